/** Inputs, outputs and parameters of both sides, one below the other, differences emphasised. */

import type { Detail, RecordedSide, RecordedValue } from "../api/types";
import { reasonText, text } from "../state/language";
import { NumberText } from "../widgets/number_text";
import { UlpBars } from "../widgets/ulp_bars";

const STATISTICS = ["Max", "Min", "Mean", "Norm"] as const;
const EXTRA = ["md5", "requires_grad", "data_name"] as const;
type Field = keyof RecordedSide;

/** Metric columns in the order in which they first appear, but relative errors before differences. */
export function metricNames(values: readonly RecordedValue[]): string[] {
  const names = [...new Set(values.flatMap((value) => Object.keys(value.metrics)))];
  const isDifference = (name: string) => name.endsWith(" diff");
  return [...names.filter((name) => !isDifference(name)), ...names.filter(isDifference)];
}

function extraFields(values: readonly RecordedValue[]): Field[] {
  return EXTRA.filter((field) =>
    values.some(({ target, golden, differs }) =>
      field === "requires_grad"
        ? differs?.includes(field)
        : target?.[field] !== undefined || golden?.[field] !== undefined,
    ),
  );
}

/** The table as text with tabs, for spreadsheets. */
export function tableText(detail: Detail): string {
  const metrics = metricNames(detail.values);
  const fields: Field[] = [
    "type",
    "dtype",
    "shape",
    ...STATISTICS,
    "value",
    ...extraFields(detail.values),
  ];
  const counted = detail.values.some((value) => value.ulps !== undefined);
  const ulps = (text: string) => (counted ? [text] : []);
  const lines = [["section", "key", "side", ...fields, ...metrics, ...ulps("ULPs"), "status"]];
  for (const value of detail.values) {
    for (const side of ["target", "golden"] as const) {
      const recorded = value[side];
      if (recorded === null) continue;
      const numbers = metrics.map((name) =>
        side === "target" ? String(value.metrics[name] ?? "") : "",
      );
      const status = side === "target" ? value.status : "";
      lines.push([
        ...[value.section, value.key, side],
        ...fields.map((field) => recorded[field] ?? ""),
        ...[...numbers, ...ulps(side === "target" ? (value.ulps ?? "") : ""), status],
      ]);
    }
  }
  return lines
    .map((line) => line.map((cell) => cell.replace(/[\t\n\r]/g, " ")).join("\t"))
    .join("\n");
}

/** The framework is the same in all rows: `torch.float16` is `float16`; `<class 'int'>` is `int`. */
export function shortDtype(dtype: string): string {
  return dtype.replace(/^(torch|mindspore)\.(?=[a-z])/, "").replace(/^<class '?(\w+)'?>$/, "$1");
}

/** Files tell a number four times, as the statistics of a tensor that has it alone. */
export function isScalar(recorded: RecordedSide): boolean {
  const { value } = recorded;
  return (
    value !== undefined &&
    STATISTICS.every((name) => recorded[name] === undefined || recorded[name] === value)
  );
}

export function ValueTable({ detail }: { detail: Detail }) {
  const { values } = detail;
  if (values.length === 0) return <p class="empty">{text("values.none")}</p>;
  const metrics = metricNames(values);
  const extra = extraFields(values);
  const counted = values.some((value) => value.ulps !== undefined);
  const single = values.every((value) => value.golden === null) && detail.node.status === "";
  const sections = ["input", "output", "parameter"] as const;
  return (
    <table class="values">
      <thead>
        <tr>
          <th class="value-name">
            <div>
              <span>{text("values.name")}</span>
              {!single && <span class="side-name">{text("values.side")}</span>}
            </div>
          </th>
          <th>{text("values.dtype")}</th>
          <th>{text("values.shape")}</th>
          {STATISTICS.map((name) => (
            <th key={name} class="numeric">
              {name}
            </th>
          ))}
          {metrics.map((name) => (
            <th key={name} class="numeric metric">
              {name}
            </th>
          ))}
          {counted && (
            <th class="numeric" title={text("ulps.title")}>
              {text("ulps.column")}
            </th>
          )}
          {extra.map((name) => (
            <th key={name}>{name}</th>
          ))}
        </tr>
      </thead>
      {sections.map((section) => {
        const found = values.filter((value) => value.section === section);
        return (
          found.length > 0 && (
            <tbody key={section} aria-label={text(`values.${section}`)}>
              {found.map((value) => (
                <ValueRows key={value.key} {...{ value, metrics, counted, extra, single }} />
              ))}
            </tbody>
          )
        );
      })}
    </table>
  );
}

interface RowsProps {
  value: RecordedValue;
  metrics: string[];
  /** Some value counts units in the last place. */
  counted: boolean;
  extra: Field[];
  /** Only one side exists: no need to name it. */
  single: boolean;
}

function ValueRows({ value, metrics, counted, extra, single }: RowsProps) {
  const both = value.target !== null && value.golden !== null;
  const bad = badStatus(value);
  const numbers = (first: boolean) =>
    first && (
      <>
        {metrics.map((metric) => (
          <td key={metric} rowSpan={both ? 2 : 1} class={`numeric metric ${bad}`}>
            <NumberText value={value.metrics[metric]} />
          </td>
        ))}
        {counted && (
          <td rowSpan={both ? 2 : 1} class="numeric">
            {value.ulps !== undefined && <UlpBars counts={value.ulps} />}
          </td>
        )}
      </>
    );
  const sides = (["target", "golden"] as const).filter((side) => value[side] !== null);
  return (
    <>
      {sides.map((side, i) => (
        <SideRow
          key={side}
          {...{ value, side, extra, single, first: i === 0, numbers: numbers(i === 0) }}
        />
      ))}
    </>
  );
}

function badStatus({ status }: RecordedValue): "error" | "warning" | "" {
  return status === "error" || status === "warning" ? status : "";
}

interface SideProps {
  value: RecordedValue;
  side: "target" | "golden";
  /** The first row of the value. */
  first: boolean;
  numbers: preact.ComponentChild;
  extra: Field[];
  single: boolean;
}

/** Name and side in one cell, which stays in sight: two could not without a width of their own. */
function NameCell({ value, side, first, single }: Omit<SideProps, "numbers" | "extra">) {
  const bad = badStatus(value);
  return (
    <th scope="row" class="value-name" title={reasonText(value.reason) || value.key}>
      <div>
        <span class={first ? "" : "repeated"}>
          <bdi>{value.key}</bdi>
          {first && bad !== "" && (
            <span class={`value-status ${bad}`}>{text(`status.${bad}`)}</span>
          )}
        </span>
        {!single && <span class="side-name">{text(side === "target" ? "side.t" : "side.g")}</span>}
      </div>
    </th>
  );
}

function SideRow({ value, side, first, numbers, extra, single }: SideProps) {
  const recorded = value[side] ?? {};
  const differs = new Set<string>(value.differs ?? []);
  const mark = (field: Field) => (differs.has(field) ? "differs" : "");
  return (
    <tr class={side}>
      <NameCell {...{ value, side, first, single }} />
      <td
        class={`expected ${mark(recorded.dtype === undefined ? "type" : "dtype")}`}
        title={[recorded.type, recorded.dtype].filter(Boolean).join(" ")}
      >
        <bdi>{shortDtype(recorded.dtype ?? recorded.type ?? "")}</bdi>
      </td>
      <td class={mark("shape")}>
        <bdi>{recorded.shape ?? ""}</bdi>
      </td>
      {isScalar(recorded) ? (
        <td colSpan={STATISTICS.length} class={`scalar ${mark("value")}`}>
          <bdi data-copy={recorded.value} title={recorded.value}>
            {recorded.value}
          </bdi>
        </td>
      ) : (
        STATISTICS.map((field) => (
          <td key={field} class={`numeric ${mark(field)}`}>
            <NumberText value={recorded[field]} />
          </td>
        ))
      )}
      {numbers}
      {extra.map((field) => (
        <td key={field} class={mark(field)}>
          <bdi data-copy={recorded[field]} title={recorded[field]}>
            {recorded[field] ?? ""}
          </bdi>
        </td>
      ))}
    </tr>
  );
}
