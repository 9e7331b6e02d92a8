import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** The words of our sources that can be a name on the wire. */
export interface OurNames {
  /** Constants and names of properties, in lower case: `messageid`, `upstash-delay` without its prefix. */
  readonly words: ReadonlySet<string>
  /** Numbers. */
  readonly numbers: ReadonlySet<string>
  /** Constant parts of each text, in order: `["quota ", " exceeded"]` of `quota ${name} exceeded`. */
  readonly texts: readonly (readonly string[])[]
}

const root = new URL('../../../../src/', import.meta.url).pathname
const folders = ['kernel', 'policy', 'protocol', 'queue', 'workflow', 'stats', 'store']

/**
 * Collects the constants and the property names of the services. Filters, headers, fields and error texts have no table
 * that lists all of them, so the comparison looks for their names in the sources. Comments do not count.
 */
export function ourNames(): OurNames {
  const words = new Set<string>()
  const numbers = new Set<string>()
  const texts: string[][] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) {
      words.add(node.text.toLowerCase())
      texts.push([node.text])
    } else if (ts.isTemplateExpression(node))
      texts.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)])
    else if (ts.isNumericLiteral(node)) numbers.add(node.text)
    else if (isNamed(node) && ts.isIdentifier(node.name)) words.add(node.name.text.toLowerCase())
    ts.forEachChild(node, visit)
  }
  for (const folder of folders) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
      const text = readFileSync(join(entry.parentPath, entry.name), 'utf8')
      visit(ts.createSourceFile(entry.name, text, ts.ScriptTarget.Latest, true))
    }
  }
  return { words, numbers, texts }
}

function isNamed(
  node: ts.Node,
): node is ts.PropertyAssignment | ts.ShorthandPropertyAssignment | ts.PropertySignature | ts.PropertyDeclaration {
  return (
    ts.isPropertyAssignment(node) ||
    ts.isShorthandPropertyAssignment(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node)
  )
}
