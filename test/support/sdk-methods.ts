import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** Classes whose methods send commands, with the names under which the table of methods has them. */
const classes: Readonly<Record<string, string>> = {
  Redis: '',
  Script: 'script.',
  ScriptRO: 'scriptRo.',
  SearchIndex: 'searchIndex.',
  VectorIndex: 'vectorIndex.',
  Subscriber: 'subscriber.',
}

/**
 * Returns the methods of the client, as its types declare them: `get`, `json.arrappend`, `vectorIndex.query`.
 * @param entry path of a file of the package
 */
export function methodsOfClient(entry: string): string[] {
  const found = new Set<string>()
  for (const file of globSync(join(dirname(entry), '*.d.ts'))) {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
    for (const statement of source.statements) {
      if (!ts.isClassDeclaration(statement) || statement.name === undefined) continue
      const prefix = classes[statement.name.text]
      if (prefix === undefined) continue
      for (const name of statement.members.flatMap(methodsIn)) found.add(prefix + name)
    }
  }
  return [...found].sort()
}

/** Returns the methods that a member declares: itself, or those of the object that a getter returns. */
function methodsIn(member: ts.ClassElement | ts.TypeElement): string[] {
  if (member.name === undefined || !ts.isIdentifier(member.name) || isHidden(member)) return []
  const name = member.name.text
  if (ts.isMethodDeclaration(member) || ts.isMethodSignature(member)) return [name]
  if (!ts.isPropertyDeclaration(member) && !ts.isPropertySignature(member) && !ts.isGetAccessorDeclaration(member))
    return []
  if (member.type === undefined) return []
  if (ts.isFunctionTypeNode(member.type)) return [name]
  if (!ts.isTypeLiteralNode(member.type)) return []
  // A method with several signatures.
  if (member.type.members.some(ts.isCallSignatureDeclaration)) return [name]
  return member.type.members.flatMap(methodsIn).map((method) => `${name}.${method}`)
}

function isHidden(member: ts.ClassElement | ts.TypeElement): boolean {
  if (!ts.canHaveModifiers(member)) return false
  const hiding = [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword, ts.SyntaxKind.StaticKeyword]
  return (ts.getModifiers(member) ?? []).some(({ kind }) => hiding.includes(kind))
}
