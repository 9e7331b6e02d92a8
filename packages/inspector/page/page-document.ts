import { copyHash, copyScript, pageScript, pageStyle, scriptHash, styleHash } from './page-text.js'

/** Data of a saved trace that its page contains, with secrets redacted. */
export interface Recording {
  /** A trace as `traffic.toTrace()` returns it. */
  readonly trace: { readonly entries: readonly object[] }
  /** Values of keys after commands, loads and resets, as `StoredChange`. */
  readonly changes?: readonly object[]
  readonly title?: string
  /**
   * The failed assertion, with which the page opens. `nearest` is the `seq` of the entry that came nearest to
   * satisfying it.
   */
  readonly failure?: { readonly message: string; readonly nearest?: number }
  /** Timeline as text, for readers whose browser runs no scripts. */
  readonly story?: string
}

/** A page in one file. The hashes are for its content-security policy. */
export interface InspectorPage {
  readonly html: string
  /** Hash in the format of a content-security policy: `sha256-…`. */
  readonly scriptHash: string
  /** Hash of the script with the copy forms. Only a recording has this script. */
  readonly copyHash?: string
  readonly styleHash: string
}

/** Number of items in one block of data. A browser parses a block in a few milliseconds. */
const blockSize = 500

/**
 * Returns the inspector as a page in one file. The page of a recording contains its data and a content-security policy.
 * The page of a server requests its data from the control API, and the server sends the policy.
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
    // The script positions elements by style properties, which no content-security policy forbids.
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

/** Characters that an HTML parser takes for markup, and characters that hide text or reverse its direction. */
const unsafe = /[<>&\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g

/** Returns JSON in which the `unsafe` characters are escaped. */
function embedded(value: unknown): string {
  return JSON.stringify(value).replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Escapes a text for HTML, between tags or in quotes. */
export function escaped(plain: string): string {
  return plain.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
