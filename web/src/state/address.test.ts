// @vitest-environment happy-dom
import { Window } from "happy-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import type { Source } from "../api/source";
import { readAddress, watchAddress, writeAddress } from "./address";
import { App } from "./app";

/** As the browser does it: the address first, then the events. */
function goBack(address: string): void {
  history.replaceState(null, "", address);
  window.dispatchEvent(new Event("popstate"));
  window.dispatchEvent(new Event("hashchange"));
}

describe("Back", () => {
  /** A file of three ranks is shown; from then on nothing is answered before `answer` is called. */
  async function started() {
    const source: Source = new EmbeddedSource(transformer("f", 4, 3));
    const { files } = source;
    source.files = async () => ({ ...(await files()), files: [] });
    history.replaceState(null, "", "#file=f&step=0&rank=0");
    const app = new App(source);
    app.start();
    await vi.waitFor(() => expect(app.workspace.views.value.length).toBe(1));
    await vi.waitFor(() => expect(app.suspects.divergence.value).not.toBeNull());
    const { open } = source;
    const waiting: (() => void)[] = [];
    source.open = async (...given) => {
      await new Promise<void>((done) => waiting.push(done));
      return open(...given);
    };
    const answer = () => {
      source.open = open;
      for (const done of waiting.splice(0)) done();
    };
    return { app, answer };
  }
  /** Addresses are written once all is drawn. */
  const settled = () => new Promise((done) => setTimeout(done, 100));

  it("stops what is on the way: a unit", async () => {
    const { app, answer } = await started();
    const before = location.hash;
    const going = app.showUnit(2);
    expect(location.hash).toContain("rank=2");
    goBack(before);
    answer();
    expect(await going).toBe(false);
    await settled();
    expect(app.workspace.views.value[0]?.unit.u).toBe(0);
    expect(location.hash).toBe(before);
  });

  it("stops what is on the way: a file", async () => {
    const { app, answer } = await started();
    const before = location.hash;
    app.openFile("other");
    expect(location.hash).toBe("#file=other");
    goBack(before);
    answer();
    await vi.waitFor(() => expect(app.workspace.views.value.length).toBe(1));
    await settled();
    expect(app.workspace.name.value).toBe("f");
    expect(location.hash).toBe(before);
  });
});

describe("In the frame of a plugin", () => {
  let outer: Window;
  beforeEach(() => {
    outer = new Window({ url: "http://localhost:6006/?darkMode=true#msprobe" });
    window.msprobe = { plugin: "msprobe" };
    vi.spyOn(window, "parent", "get").mockReturnValue(outer as unknown as typeof window.parent);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    delete window.msprobe;
  });
  const go = (address: string) => {
    outer.history.replaceState(null, "", address);
    outer.dispatchEvent(new outer.Event("popstate"));
  };

  it("hears of Back from the window whose address it writes, as long as it is there", () => {
    const changed = vi.fn();
    watchAddress(changed);
    writeAddress("file=a", true);
    expect(readAddress()).toBe("file=a");
    go("/?p.msprobe.place=file%3Db#msprobe");
    expect(changed).toHaveBeenCalledTimes(1);
    expect(readAddress()).toBe("file=b");
    // Another plugin's place is none of ours.
    go("/?darkMode=true#scalars");
    expect(changed).toHaveBeenCalledTimes(1);
    window.dispatchEvent(new Event("pagehide"));
    go("/?p.msprobe.place=file%3Da#msprobe");
    expect(changed).toHaveBeenCalledTimes(1);
  });
});
