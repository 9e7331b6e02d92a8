import { javascriptLanguage, tsxLanguage } from '@codemirror/lang-javascript'
import { classHighlighter, highlightCode } from '@lezer/highlight'

// Highlights code on the pages and in the playground. VitePress' own highlighter needs half a minute for the pages.

const parsers: Readonly<Record<string, { parse(code: string): Parameters<typeof highlightCode>[1] }>> = {
  ts: tsxLanguage.parser,
  tsx: tsxLanguage.parser,
  typescript: tsxLanguage.parser,
  js: javascriptLanguage.parser,
  javascript: javascriptLanguage.parser,
  json: javascriptLanguage.parser,
}

/** Returns a block of code as HTML, with the classes of `theme/style.css`. */
export function highlight(code: string, language: string): string {
  const parser = parsers[language.split(/\s/)[0]!]
  const html = parser === undefined ? escaped(code) : colored(code, parser)
  return `<pre v-pre tabindex="0"><code>${html}</code></pre>`
}

/** Classes of tokens that have the color of the block. */
const plain = /^(?:tok-(?:punctuation|variableName|propertyName|operator|labelName))?$/

/** Returns code as HTML with a span for each token. The default parser reads JavaScript. */
export function colored(code: string, parser: (typeof parsers)[string] = javascriptLanguage.parser): string {
  const parts: string[] = []
  highlightCode(
    code,
    parser.parse(code),
    classHighlighter,
    (text, classes) =>
      parts.push(plain.test(classes) ? escaped(text) : `<span class="${classes}">${escaped(text)}</span>`),
    () => parts.push('\n'),
  )
  return parts.join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
