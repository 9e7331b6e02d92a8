import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { defaultPolicy } from '../../src/policy/policy.js'

interface Row {
  readonly name: string
  readonly type: string
  readonly about: string
}

const file = new URL('../../src/policy/policy.ts', import.meta.url)

/** Returns the page with every policy, its default and its documentation from `src/policy/policy.ts`. */
export function policyReference(): string {
  const rows = declared('Policy').map(({ name, type, about }) => {
    const value = (defaultPolicy as unknown as Readonly<Record<string, unknown>>)[name]
    // The beginning of the page says this once for all limits.
    const meaning = about.replace(/[,;] `undefined` for no limit(?=[.,;])/, '')
    return `| \`${name}\` | ${code(shown(value))} | ${code(type)} | ${meaning} |`
  })
  return `# Policies

Look up the behavior that you can change with \`createSandbox({ policy: { deduplicationWindow: '5m' } })\`. A policy is a choice with a default, where public sources are silent or disagree. \`createSandbox()\` rejects an unknown name and suggests the nearest one.

A \`Duration\` is a text such as \`'10m'\`, or a number of milliseconds. For a maximum, a limit or a timeout, \`undefined\` means no limit. The brackets name the source of the default: a page of the [protocol](../protocol/index.md) and its section, or this package.

| Policy | Default | Type | Meaning |
|---|---|---|---|
${rows.join('\n')}
`
}

function declared(name: string): readonly Row[] {
  const source = ts.createSourceFile('policy.ts', readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const found = source.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name)
  return (found as ts.InterfaceDeclaration).members.filter(ts.isPropertySignature).map((member) => ({
    name: member.name.getText(),
    type: member.type!.getText(),
    about: ts
      .getJSDocCommentsAndTags(member)
      .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
      .join(' ')
      .replace(/\s+/g, ' ')
      .replaceAll('|', '\\|'),
  }))
}

function shown(value: unknown): string {
  if (typeof value === 'object') return value === null ? 'null' : JSON.stringify(value)
  return typeof value === 'number' && value >= 10_000 ? value.toLocaleString('en').replaceAll(',', '_') : String(value)
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``
}
