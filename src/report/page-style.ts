/** The style of the HTML report. Colours are variables, so that the drawing reads them too. */
export const pageStyle: string = `
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --shade: #f3f5f7; --pick: #dbe9ff;
  --focus: #0b57d0; --ok: #1a7f37; --bad: #b3261e; --wait: #8a5a00; --call: #6f42c1; --store: #0b6bcb; --move: #57606a; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181d; --ink: #e8ecf1; --soft: #a3adb8; --line: #3a424c; --shade: #1d232a; --pick: #21364f;
    --focus: #8ab4f8; --ok: #56d364; --bad: #ff8a80; --wait: #e3b341; --call: #c7a6ff; --store: #79c0ff; --move: #a3adb8; }
}
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body { display: grid; grid-template-rows: auto auto minmax(0, 1fr); background: var(--paper); color: var(--ink);
  font: 14px/1.45 system-ui, sans-serif; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--paper); padding: 4px 8px; z-index: 2; }
header, .axis { padding: 8px 16px; border-bottom: 1px solid var(--line); }
h1 { font-size: 18px; margin: 0; } h2 { font-size: 15px; margin: 0 0 4px; } h3 { font-size: 13px; margin: 12px 0 4px; }
header p { margin: 2px 0; color: var(--soft); }
.notice { color: var(--bad); font-weight: 600; }
.tools { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
button, input, select { font: inherit; color: inherit; background: var(--shade); border: 1px solid var(--soft); border-radius: 4px; padding: 2px 8px; }
button:hover { border-color: var(--ink); }
output { color: var(--soft); font-variant-numeric: tabular-nums; }
#lanes { position: relative; overflow-y: auto; height: 220px; border: 1px solid var(--line); margin-top: 6px; }
#lanes canvas { position: sticky; top: 0; display: block; width: 100%; cursor: crosshair; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 0; margin: 4px 0 0; color: var(--soft); font-size: 12px; }
main { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); min-height: 0; }
.entries { display: grid; grid-template-rows: auto minmax(0, 1fr); min-height: 0; padding: 8px 0 0 16px; }
fieldset { border: 0; padding: 0; margin: 4px 0; display: flex; flex-wrap: wrap; gap: 2px 12px; }
legend { float: left; padding: 0; margin-right: 8px; color: var(--soft); }
#list { overflow: auto; border: 1px solid var(--line); position: relative; min-height: 120px; contain: strict; }
.row { position: absolute; left: 0; right: 0; height: 26px; line-height: 26px; padding: 0 8px; white-space: pre; overflow: hidden;
  text-overflow: ellipsis; cursor: default; font: 12.5px/26px ui-monospace, monospace; border-left: 4px solid transparent; }
.row[aria-selected="true"] { background: var(--pick); }
.row .n, .row .t { color: var(--soft); }
.ok { border-left-color: var(--ok); } .bad { border-left-color: var(--bad); } .wait { border-left-color: var(--wait); }
.call { border-left-color: var(--call); } .store { border-left-color: var(--store); }
.detail { overflow: auto; padding: 8px 16px; min-height: 0; }
.detail ul { padding-left: 18px; margin: 4px 0; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 12px; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: 2px 8px 2px 0; overflow-wrap: anywhere; font-weight: normal; }
th[scope=row] { color: var(--soft); width: 35%; }
pre { background: var(--shade); border: 1px solid var(--line); padding: 8px; margin: 0; overflow: auto; max-height: 320px; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
noscript pre { max-height: none; }
@media (max-width: 800px) { body { display: block; } main { display: block; } #list { height: 50vh; } .entries { padding: 8px 16px; } }
@media (forced-colors: active) { .row[aria-selected="true"] { outline: 2px solid; } }
`
