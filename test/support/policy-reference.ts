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
    return `| \`${name}\` | ${code(shown(value))} | ${code(type)} | ${about} |`
  })
  return `# Policies

Where public sources leave a question open, or contradict each other, the choice is a policy: a number or a word with a default. \`createSandbox({ policy: { deduplicationWindow: 600_000 } })\` changes one for a sandbox; a name that is not here is refused, with the nearest one that is. A \`Duration\` is a text such as \`'10m'\` or a number of milliseconds, sizes are bytes. In brackets stands where the default comes from: a page of [what is publicly known](../protocol/index.md) and its section.

| Policy | Default | Type | What it decides |
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
