// One key leads to the first node whose inputs agree and whose outputs do not.
import assert from "node:assert/strict";
import { becomes, CULPRIT, journey, open, picture, RUN, row, selected } from "./page.mjs";

await journey(
  async (page) => {
    await open(page, { file: RUN, step: 0, rank: 3 });
    await page.locator(".divergence-name", { hasText: CULPRIT }).waitFor();
    await page.keyboard.press("f");
    await becomes(() => selected(page), CULPRIT);
    await row(page, CULPRIT).locator(".half.t .culprit").waitFor();
    // Nothing is left out where there is room.
    await row(page, "attn").locator(".half.t .cls", { hasText: "SelfAttention" }).waitFor();
    await row(page, "attn").locator(".half.t .shape").waitFor();
    const box = await row(page, CULPRIT).boundingBox();
    const tree = await page.locator(".tree").boundingBox();
    assert.ok(box.y >= tree.y && box.y + box.height <= tree.y + tree.height);
    await picture(page, "viewer", { chinese: true });
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, "dark");
  },
  { viewport: { width: 1440, height: 900 } },
);
