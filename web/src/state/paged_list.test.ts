import { expect, it, vi } from "vitest";
import { ApiError } from "../api/source";
import { PagedList } from "./paged_list";

it("asks no more for a page that the server refused", async () => {
  const load = vi.fn(async () => {
    throw new ApiError(500, "broken", "", "");
  });
  const list = new PagedList(load);
  await list.first;
  expect((list.error.value as ApiError).fact).toBe("broken");
  list.need(0, 10);
  list.need(0, 10);
  expect(load).toHaveBeenCalledTimes(1);
});
