import ts from 'typescript'
import { type Item, oneLine } from './items.js'

// Reads the declarations of a client: the fields of its types with their types, and the descriptions.

/** Returns the items of one declaration file. */
export function readTypes(file: string, text: string): Item[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS)
  const items: Item[] = []
  const printer = ts.createPrinter({ removeComments: true })
  const typeText = (node: ts.TypeNode): string => oneLine(printer.printNode(ts.EmitHint.Unspecified, node, source))

  const sourceOf = (node: ts.Node): string =>
    `${file}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`

  const describe = (node: ts.Node, name: string, owner?: string): void => {
    const text = docOf(node)
    if (text === '') return
    items.push({ kind: 'text', name, value: '', text, source: sourceOf(node), owner })
  }

  /** Reads the members of every object type in a type, such as those of a union or an intersection. */
  const fields = (node: ts.Node, owner: string, top: string): void => {
    if (ts.isTypeLiteralNode(node) || ts.isInterfaceDeclaration(node)) {
      for (const member of node.members) {
        const name = member.name && memberName(member.name)
        if (name === undefined) continue
        const path = `${owner}${owner === top ? ' ' : '.'}${name}`
        describe(member, path, path)
        const type = 'type' in member ? (member.type as ts.TypeNode | undefined) : undefined
        const isObject = type !== undefined && ts.isTypeLiteralNode(type)
        const value = isObject ? 'object' : type === undefined ? 'method' : typeText(type)
        items.push({
          kind: 'field',
          name: path,
          value: `${'questionToken' in member && member.questionToken ? '?' : ''}${value}`,
          source: sourceOf(member),
          owner: top,
        })
        if (type !== undefined && !ts.isFunctionTypeNode(type)) fields(type, path, top)
      }
      return
    }
    if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node))
      for (const part of node.types) fields(part, owner, top)
    if (ts.isParenthesizedTypeNode(node)) fields(node.type, owner, top)
    if (ts.isArrayTypeNode(node)) fields(node.elementType, owner, top)
    if (ts.isTypeReferenceNode(node)) for (const part of node.typeArguments ?? []) fields(part, owner, top)
  }

  const declarations = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
      const name = node.name.text
      describe(node, name, name)
      const value = ts.isTypeAliasDeclaration(node) && !hasFields(node.type) ? typeText(node.type) : ''
      items.push({ kind: 'field', name, value, source: sourceOf(node) })
      fields(ts.isTypeAliasDeclaration(node) ? node.type : node, name, name)
    } else if (ts.isClassDeclaration(node) && node.name !== undefined) {
      const name = node.name.text
      describe(node, name)
      for (const member of node.members) {
        const own = member.name && memberName(member.name)
        if (own !== undefined) describe(member, `${name}.${own}`)
      }
    } else if (ts.isFunctionDeclaration(node) && node.name !== undefined) describe(node, node.name.text)
    else if (ts.isModuleBlock(node) || ts.isModuleDeclaration(node)) ts.forEachChild(node, declarations)
  }
  ts.forEachChild(source, declarations)
  return items
}

function hasFields(node: ts.TypeNode): boolean {
  if (ts.isTypeLiteralNode(node)) return true
  if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node)) return node.types.some(hasFields)
  return ts.isParenthesizedTypeNode(node) && hasFields(node.type)
}

function memberName(name: ts.PropertyName): string | undefined {
  return ts.isIdentifier(name) || ts.isStringLiteralLike(name) || ts.isNumericLiteral(name) ? name.text : undefined
}

/** Returns the description of a declaration. A link to a page of the documentation describes nothing. */
function docOf(node: ts.Node): string {
  const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc)
  const text = docs.map((doc) => doc.getText().replace(/^\/\*\*|\*\/$|^[ \t]*\*/gm, ' ')).join(' ')
  return oneLine(text.replace(/@see\s+(?:\{@link\s+)?\S+/g, ' '))
}
