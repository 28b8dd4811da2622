import { describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/source";
import { ask, lost } from "./connection";

describe("ask", () => {
  it("asks again until the server is back, and says so", async () => {
    vi.useFakeTimers();
    const question = vi
      .fn<() => Promise<string>>()
      .mockRejectedValueOnce(new TypeError("Failed to fetch"))
      .mockRejectedValueOnce(new ApiError(503, "gone", "", ""))
      .mockResolvedValue("here");
    const answer = ask(question);
    await vi.advanceTimersByTimeAsync(1);
    expect(lost.value).toBe(true);
    await vi.runAllTimersAsync();
    expect(await answer).toBe("here");
    expect(question).toHaveBeenCalledTimes(3);
    expect(lost.value).toBe(false);
    vi.useRealTimers();
  });

  it("asks again while the server still loads, as after a restart, and loses nobody", async () => {
    vi.useFakeTimers();
    const loading = new ApiError(422, "the file is still being loaded", "ask 'open'", "");
    const question = vi.fn<() => Promise<string>>().mockRejectedValueOnce(loading);
    question.mockRejectedValueOnce(loading).mockResolvedValue("here");
    const answer = ask(question);
    await vi.advanceTimersByTimeAsync(1);
    expect(lost.value).toBe(false);
    await vi.runAllTimersAsync();
    expect(await answer).toBe("here");
    vi.useRealTimers();
  });

  it("passes on what the server says", async () => {
    const question = () => Promise.reject(new ApiError(404, "no such file", "", ""));
    await expect(ask(question)).rejects.toMatchObject({ status: 404 });
  });

  it("stops when nobody waits any more", async () => {
    const stop = new AbortController();
    const answer = ask(() => Promise.reject(new TypeError("Failed to fetch")), stop.signal);
    setTimeout(() => stop.abort(), 5);
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
    lost.value = false;
  });
});
