import { javascriptLanguage, tsxLanguage } from '@codemirror/lang-javascript'
import { classHighlighter, highlightCode } from '@lezer/highlight'

// The playground's own highlighter colors the pages, too: VitePress' one takes half a minute for them.

const parsers: Readonly<Record<string, { parse(code: string): Parameters<typeof highlightCode>[1] }>> = {
  ts: tsxLanguage.parser,
  tsx: tsxLanguage.parser,
  typescript: tsxLanguage.parser,
  js: javascriptLanguage.parser,
  javascript: javascriptLanguage.parser,
  json: javascriptLanguage.parser,
}

/** A block of code as HTML, with the classes of the theme's `style.css`. */
export function highlight(code: string, language: string): string {
  const parser = parsers[language.split(/\s/)[0]!]
  const html = parser === undefined ? escaped(code) : coloured(code, parser)
  return `<pre v-pre tabindex="0"><code>${html}</code></pre>`
}

/** What has the color of the block. */
const plain = /^(?:tok-(?:punctuation|variableName|propertyName|operator|labelName))?$/

/** JavaScript, or what else the parser reads, with its parts in spans. */
export function coloured(code: string, parser: (typeof parsers)[string] = javascriptLanguage.parser): string {
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
