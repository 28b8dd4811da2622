/** Pairs made by hand on a unit in memory: enough of the server's behaviour to try the page. */

import { ApiError } from "../src/api/source";
import type {
  Detail,
  EmbeddedBrief,
  EmbeddedData,
  EmbeddedUnit,
  IdPair,
  ManualPair,
} from "../src/api/types";
import { BANDS, unitOf } from "./graph_maker";

export class HandMatches {
  private readonly pairs: ManualPair[] = [];

  constructor(
    private readonly data: EmbeddedData,
    private readonly u: number,
    private readonly changed: () => void,
  ) {}

  private get unit(): EmbeddedUnit {
    return this.data.units[this.u] as EmbeddedUnit;
  }

  answer(method: string, body: string): unknown {
    if (method === "GET") {
      const last = this.pairs.at(-1);
      return {
        total: this.pairs.length,
        pairs: this.pairs,
        undo: last === undefined ? null : { ...last, count: 1 },
        mapping: this.pairs.some(({ target }) => target.startsWith("Module.")),
      };
    }
    const { t, g, last } = JSON.parse(body) as Partial<IdPair> & { last?: IdPair };
    if (method === "POST") this.pair(t ?? -1, g ?? -1);
    else if (last !== undefined && last.t !== this.pairs.at(-1)?.t) {
      throw new ApiError(400, "this pair is not the last match any more", "look again", "");
    } else this.undo(last?.t ?? t);
    this.refresh();
    return { changed: [] };
  }

  private find(t: number, g: number): [EmbeddedBrief, EmbeddedBrief] {
    const target = this.unit.target.find((node) => node.id === t);
    const golden = this.unit.golden.find((node) => node.id === g);
    if (target === undefined || golden === undefined) {
      throw new ApiError(404, "there is no such node", "", "");
    }
    return [target, golden];
  }

  private pair(t: number, g: number): void {
    const [target, golden] = this.find(t, g);
    if (target.partner !== null || golden.partner !== null) {
      throw new ApiError(400, "one of the nodes has a partner already", "pick unmatched ones", "");
    }
    Object.assign(target, { partner: g, status: "pass", index: 0.1, worst: 0.1 });
    Object.assign(golden, { partner: t, status: "pass", index: 0.1, worst: 0.1 });
    this.pairs.push({ t, g, target: target.name, golden: golden.name });
    this.tell(t, g, { id: g, name: golden.name }, { id: t, name: target.name });
  }

  private undo(t: number | undefined): void {
    const at = this.pairs.findIndex((pair) => pair.t === t);
    const [pair] = at < 0 ? [] : this.pairs.splice(at, 1);
    if (pair === undefined) throw new ApiError(404, "there is nothing to undo", "", "");
    for (const node of this.find(pair.t, pair.g)) {
      Object.assign(node, { partner: null, status: "unmatched", index: null, worst: null });
    }
    this.tell(pair.t, pair.g, null, null);
  }

  private tell(
    t: number,
    g: number,
    ofTarget: Detail["partner"],
    ofGolden: Detail["partner"],
  ): void {
    const { details } = this.unit;
    Object.assign(details.t[String(t)] ?? {}, { partner: ofTarget });
    Object.assign(details.g[String(g)] ?? {}, { partner: ofGolden });
  }

  private refresh(): void {
    const { step, rank, micro_steps: micro } = this.data.open.units[this.u] ?? {};
    this.data.open.units[this.u] = unitOf(step ?? 0, rank ?? 0, micro ?? 1, this.unit);
    this.data.open.bands = BANDS;
    this.changed();
  }

  yaml(): string {
    return `${this.pairs.map((pair) => `${pair.target}: ${pair.golden}`).join("\n")}\n`;
  }
}
