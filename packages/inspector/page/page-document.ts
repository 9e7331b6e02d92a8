import { copyHash, copyScript, pageScript, pageStyle, scriptHash, styleHash } from './page-text.js'

/** What stands in the page of a saved trace. Secrets are hidden in it. */
export interface Recording {
  /** As `traffic.toTrace()` gives it. */
  readonly trace: { readonly entries: readonly object[] }
  /** What commands, loads and resets left at keys: `StoredChange`. */
  readonly changes?: readonly object[]
  readonly title?: string
  /** The assertion that failed: the page opens on it. `nearest` is the `seq` of an entry. */
  readonly failure?: { readonly message: string; readonly nearest?: number }
  /** The story for readers without scripts. */
  readonly story?: string
}

/** A page in one file, and what a content security policy allows of it. */
export interface InspectorPage {
  readonly html: string
  /** `sha256-…`, as a policy writes it. */
  readonly scriptHash: string
  /** Of the forms of copying, which stand in a recording in a script of their own. */
  readonly copyHash?: string
  readonly styleHash: string
}

/** Items in one block of data: as much as a browser reads in a few milliseconds. */
const blockSize = 500

/**
 * The inspector as one page that needs nothing else. With a recording it has its facts in itself, and what it may do
 * written into it; without one it asks the control API of the server that it comes from, which sends the policy.
 */
export function inspectorPage(recording?: Recording): InspectorPage {
  if (recording === undefined) return { html: shell('Inspector', '', ''), scriptHash, styleHash }
  return { html: recorded(recording), scriptHash, copyHash, styleHash }
}

function recorded({ trace, changes = [], title = 'Traffic', failure, story }: Recording): string {
  const { entries, ...facts } = trace
  const info = {
    ...facts,
    name: title,
    entries: entries.length,
    changes: changes.length,
    ...(failure !== undefined && { failure }),
  }
  const policy = [
    "default-src 'none'",
    `script-src '${scriptHash}' '${copyHash}'`,
    // The page places things by style properties, which no policy forbids.
    `style-src '${styleHash}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ]
  const data = [`<script type="application/json" id="recording">${embedded(info)}</script>`]
  for (const [name, items] of [['entries', entries] as const, ['changes', changes] as const]) {
    for (let from = 0; from < items.length; from += blockSize) {
      const block = embedded(items.slice(from, from + blockSize))
      data.push(`<script type="application/json" data-block="${name}">${block}</script>`)
    }
  }
  const told = story === undefined ? '' : `<noscript><pre>${escaped(story)}</pre></noscript>\n`
  return shell(
    title,
    `<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">\n`,
    `${told}${data.join('\n')}\n<script id="copying">${copyScript}</script>\n`,
  )
}

function shell(title: string, policy: string, data: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${policy}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<div id="app"></div>
${data}<script>${pageScript}</script>
</body>
</html>
`
}

/** What an HTML parser takes for markup, and what reverses or hides text for whoever looks at the file. */
const unsafe = /[<>&\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g

/** JSON with those characters spelled out. */
function embedded(value: unknown): string {
  return JSON.stringify(value).replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A text escaped for use between tags or in quotes. */
export function escaped(plain: string): string {
  return plain.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
