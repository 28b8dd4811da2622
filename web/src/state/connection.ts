/** Asks again when the server cannot be reached, and says so meanwhile; and while it still loads. */

import { signal } from "@preact/signals";
import { ApiError } from "../api/source";

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 5_000;

/** True while the server does not answer. */
export const lost = signal(false);

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Nobody answered, or a proxy in front of a server that is gone. */
function isLost(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 502 && error.status <= 504;
  return error instanceof TypeError;
}

/** The unit is not in memory, as after a restart of the server: asked for, it does load it. */
function isLoading(error: unknown): boolean {
  return error instanceof ApiError && error.fact === "the file is still being loaded";
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("stopped", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

export async function ask<T>(question: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 1.6, LONGEST_WAIT_MS)) {
    try {
      const answer = await question();
      lost.value = false;
      return answer;
    } catch (error) {
      if (!isAbort(error)) lost.value = isLost(error);
      if (!isLost(error) && !isLoading(error)) throw error;
      await pause(wait, signal);
    }
  }
}
