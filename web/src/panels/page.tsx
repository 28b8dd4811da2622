/** The page as a whole. */

import { remPixels } from "../base/rem";
import type { App } from "../state/app";
import { lost } from "../state/connection";
import { text } from "../state/language";
import { detailHeight, sideOpen, sideWidth } from "../state/preferences";
import { Splitter } from "../widgets/splitter";
import { AppHeader } from "./app_header";
import { DetailPanel } from "./detail_panel";
import { HelpDialog } from "./help_dialog";
import { MatchBar } from "./match_bar";
import { Notes } from "./notes";
import { hasSidePanel, isShown, SidePanel } from "./side_panel";
import { StartPage } from "./start_page";
import { Trees } from "./trees";

export function Page({ app }: { app: App }) {
  return (
    <div class="page">
      <AppHeader app={app} />
      {lost.value && (
        <p class="banner" role="alert">
          {text("connection.lost")}
        </p>
      )}
      {isShown(app) || hasSidePanel(app) ? <Work app={app} /> : <StartPage app={app} />}
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
            size={sideWidth}
            min={12}
            max={60}
            step={1}
            perPixel={() => 1 / remPixels()}
          />
        </>
      )}
      {isShown(app) ? <Shown app={app} /> : <StartPage app={app} />}
    </div>
  );
}

function Shown({ app }: { app: App }) {
  return (
    <main>
      <Notes app={app} />
      <MatchBar app={app} />
      <Trees app={app} />
      <Splitter
        label={text("splitter.detail")}
        upright={false}
        size={detailHeight}
        min={4}
        max={80}
        step={1}
        perPixel={() => -1 / remPixels()}
      />
      <DetailPanel app={app} />
    </main>
  );
}
