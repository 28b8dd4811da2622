import { expect, it } from "vitest";
import { formatPlace, type Place, parsePlace } from "./place";

const EMPTY: Place = {
  file: null,
  step: null,
  rank: null,
  micro: null,
  node: null,
  filter: null,
  filterSide: "t",
  coloring: null,
  linked: null,
};

it.each<Partial<Place>>([
  {},
  { file: "out/a b+c.vis.db", step: 0, rank: 12, micro: 1 },
  { file: "层.vis", node: { side: "g", name: "<script>&#=%25 \u202e" } },
  { filter: { by: "band", value: "4" }, filterSide: "g", coloring: "status", linked: false },
  { filter: { by: "suspicious", value: "" } },
])("keeps %j", (fields) => {
  const place = { ...EMPTY, ...fields };
  expect(parsePlace(`#${formatPlace(place)}`)).toEqual(place);
});

it("takes no notice of nonsense", () => {
  expect(parsePlace("#step=x&rank=-1&filter=evil:1&colour=blink&micro=99999999999")).toEqual(EMPTY);
});
