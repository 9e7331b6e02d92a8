import ts from 'typescript'

/** A comment, a text or the title of a test, as a reader sees it. */
export interface Prose {
  readonly kind: 'comment' | 'text' | 'title'
  readonly line: number
  readonly text: string
}

const titled = /^(?:test|it|describe)\b/

/**
 * The prose of a source file: comments, texts with a space in them, and titles of tests. The other texts of a test are
 * data, so they are left out.
 */
export function proseOf(file: string, source: string): Prose[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const isTest = /(?:^|\/)test\//.test(file)
  const found: Prose[] = []
  const read = new Set<number>()

  const add = (kind: Prose['kind'], at: number, text: string): void => {
    found.push({ kind, line: tree.getLineAndCharacterOfPosition(at).line + 1, text })
  }
  const comments = (ranges: readonly ts.CommentRange[] = []): void => {
    const unread = ranges.filter(({ pos }) => !read.has(pos))
    for (const { pos } of unread) read.add(pos)
    for (const [first, last] of blocks(unread)) {
      add('comment', first.pos, source.slice(first.pos, last.end).replace(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' '))
    }
  }
  const visit = (node: ts.Node): void => {
    comments(ts.getLeadingCommentRanges(source, node.getFullStart()))
    comments(ts.getTrailingCommentRanges(source, node.end))
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isJsxText(node)) {
      const { parent } = node
      const isTitle =
        ts.isCallExpression(parent) && parent.arguments[0] === node && titled.test(parent.expression.getText())
      const text = ts.isTemplateExpression(node) ? spelled(node) : node.text
      if (isTitle) add('title', node.getStart(), text)
      else if (!isTest && /\S \S/.test(text)) add('text', node.getStart(), text)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** Joins line comments that follow one another, so that a phrase may break between two of them. */
function blocks(ranges: readonly ts.CommentRange[]): [first: ts.CommentRange, last: ts.CommentRange][] {
  const joined: [ts.CommentRange, ts.CommentRange][] = []
  for (const range of ranges) {
    const block = joined.at(-1)
    const continues = range.kind === ts.SyntaxKind.SingleLineCommentTrivia && block?.[1].kind === range.kind
    if (continues) block[1] = range
    else joined.push([range, range])
  }
  return joined
}

/** The text of a template, with `…` for each expression. */
function spelled({ head, templateSpans }: ts.TemplateExpression): string {
  return [head.text, ...templateSpans.map(({ literal }) => literal.text)].join('…')
}

/** The text without code, links and citations such as `[queue.md 2.3]`, whose words are not ours to choose. */
export function withoutCode(text: string): string {
  return text.replace(/`[^`]*`|\{@\w+[^}]*\}|\[[\w ./-]+\.md[^\]]*\]|@(?:param|throws) \S+|https?:\S+/g, '`…`')
}

/** Blocks of a page that are not prose: code, front matter, comments, and generated parts, which are checked at their source. */
const notProse =
  /^ *```.*?^ *```$|^---\n.*?^---$|<!-- generated:.*?<!-- end -->|<!--.*?-->|<(?:script|style)\b.*?<\/(?:script|style)>/gms

/** The prose of a Markdown page by paragraph, list item and table cell. Links are reduced to their text. */
export function proseOfPage(page: string): Prose[] {
  const blank = page.replace(notProse, (block) => block.replace(/[^\n]/g, ''))
  const found: Prose[] = []
  const lines = blank.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    if (line.trim() === '' || /^[\s|:-]*$/.test(line)) continue
    const isRow = line.startsWith('|')
    for (const text of isRow ? line.split('|') : [line.replace(/^\s*(?:[-*>#]+|\d+\.) /, '')])
      if (text.trim() !== '') found.push({ kind: 'text', line: at + 1, text: linkTexts(text).trim() })
  }
  return found
}

function linkTexts(text: string): string {
  return text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
}

/** Maximum number of words in a sentence of a page. */
const maxWords = 28

/** The sentences of a page's prose that are too long. A code span counts as one word. */
export function longSentences(page: string): Prose[] {
  return proseOfPage(page).flatMap(({ line, text }) =>
    text
      .replace(/`[^`]*`/g, 'x')
      .split(/(?<=[.!?:;])\s+/)
      .filter((sentence) => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length > maxWords)
      .map((sentence): Prose => ({ kind: 'text', line, text: sentence })),
  )
}
