/** The page as a whole. */

import { useRef } from "preact/hooks";
import { groupDigits } from "../base/numbers";
import { GraphTree } from "../render/graph_tree";
import { OverviewStrip } from "../render/overview_strip";
import { RankStrips } from "../render/rank_strips";
import type { App } from "../state/app";
import { lost } from "../state/connection";
import { text } from "../state/language";
import { detailHeight, sideOpen, sideWidth, split } from "../state/preferences";
import { Splitter } from "../widgets/splitter";
import { AppHeader } from "./app_header";
import { DetailPanel } from "./detail_panel";
import { HelpDialog } from "./help_dialog";
import { MatchBar } from "./match_bar";
import { hasSidePanel, SidePanel } from "./side_panel";
import { StartPage } from "./start_page";

const rem = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

export function Page({ app }: { app: App }) {
  const shown = app.workspace.views.value.length > 0 && app.failure.value === null;
  return (
    <div class="page">
      <AppHeader app={app} />
      {lost.value && (
        <p class="banner" role="alert">
          {text("connection.lost")}
        </p>
      )}
      {shown ? <Work app={app} /> : <StartPage app={app} />}
      {app.notice.value !== null && (
        <p class="notice" role="status">
          <bdi>{app.notice.value}</bdi>
        </p>
      )}
      <HelpDialog app={app} />
    </div>
  );
}

function Work({ app }: { app: App }) {
  const style = { "--side": `${sideWidth.value}rem`, "--detail": `${detailHeight.value}rem` };
  return (
    <div class="work" style={style}>
      {sideOpen.value && hasSidePanel(app) && (
        <>
          <SidePanel app={app} />
          <Splitter
            label={text("splitter.side")}
            upright
            value={sideWidth.value}
            min={12}
            max={60}
            step={1}
            perPixel={() => 1 / rem()}
            change={(value) => {
              sideWidth.value = value;
            }}
          />
        </>
      )}
      <main>
        <MatchBar app={app} />
        <Trees app={app} />
        <Splitter
          label={text("splitter.detail")}
          upright={false}
          value={detailHeight.value}
          min={4}
          max={80}
          step={1}
          perPixel={() => -1 / rem()}
          change={(value) => {
            detailHeight.value = value;
          }}
        />
        <DetailPanel app={app} />
      </main>
    </div>
  );
}

function Trees({ app }: { app: App }) {
  const area = useRef<HTMLDivElement>(null);
  const { workspace } = app;
  const views = workspace.views.value;
  const comparison = workspace.comparison.value;
  const [target = 0, golden = 0] = workspace.unit.value?.nodes ?? [];
  const apart = views.length > 1;
  const kind = apart ? "apart" : comparison ? "together" : "single";
  return (
    <div class={`trees ${kind}`} ref={area} style={{ "--split": split.value }}>
      <div class="tree-heads">
        <h2>
          {text(comparison ? "side.t" : "side.single")}{" "}
          <span>{text("tree.nodes", { count: groupDigits(target) })}</span>
        </h2>
        {comparison && (
          <>
            <Splitter
              label={text("splitter.sides")}
              upright
              value={split.value}
              min={0.1}
              max={0.9}
              step={0.02}
              perPixel={() => 1 / Math.max(1, area.current?.clientWidth ?? 1)}
              change={(value) => {
                split.value = value;
              }}
            />
            <h2>
              {text("side.g")} <span>{text("tree.nodes", { count: groupDigits(golden) })}</span>
            </h2>
          </>
        )}
      </div>
      <div class="tree-area">
        {views.map((view) => (
          <GraphTree key={view.key} app={app} view={view} name={`row-${view.sides}`} />
        ))}
      </div>
      {comparison && (
        <div class="strips">
          <RankStrips app={app} />
          <OverviewStrip app={app} />
        </div>
      )}
    </div>
  );
}
