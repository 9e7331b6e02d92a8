import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { type Extract, readPackage } from '../../src/protocol/read-package.js'

const modules = new URL('../../../../node_modules/', import.meta.url).pathname

/** Reads a package from node_modules, as if its archive had been fetched. Returns `undefined` if it is not installed. */
export function readInstalled(name: string, containers: ReadonlySet<string>): Extract | undefined {
  const folder = join(modules, name)
  if (!existsSync(folder)) return undefined
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  const paths = entries.map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  const files = paths.filter((path) => !path.startsWith('node_modules/'))
  return readPackage(new Map(files.map((path) => [path, readFileSync(join(folder, path))])), containers)
}

/** Returns the methods of a class in the declarations of an installed package, in lower case. */
export function methodsOfClass(name: string, className: string): ReadonlySet<string> {
  const folder = join(modules, name)
  const methods = new Set<string>()
  for (const file of readdirSync(folder).filter((one) => one.endsWith('.d.ts'))) {
    const source = ts.createSourceFile(file, readFileSync(join(folder, file), 'utf8'), ts.ScriptTarget.Latest, true)
    for (const statement of source.statements) {
      if (!ts.isClassDeclaration(statement) || statement.name?.text !== className) continue
      for (const { name: member } of statement.members) {
        if (member !== undefined && ts.isIdentifier(member)) methods.add(member.text.toLowerCase())
      }
    }
  }
  return methods
}
