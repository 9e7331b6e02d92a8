import { exitCodes, programs } from '../../packages/server/src/programs/programs.js'

interface Option {
  readonly type: string
  readonly valueHint?: string
  readonly default?: unknown
  readonly description?: string
}

/** Returns the text of docs/cli.md. */
export async function commandLinePage(): Promise<string> {
  const sections: string[] = []
  for (const [name, { description, load }] of Object.entries(programs)) {
    const { args, operands, examples, notes } = (await load()).program
    const options = Object.entries(args as Record<string, Option>).map(
      ([option, { valueHint, default: or, description }]) => {
        const written = `--${option}${valueHint === undefined ? '' : ` ${valueHint}`}`.replaceAll('|', '\\|')
        return `| \`${written}\` | ${or === undefined ? '' : `\`${or}\``} | ${(description ?? '').replaceAll('|', '\\|')} |`
      },
    )
    const table = options.length === 0 ? '' : `\n| Option | Default | |\n|---|---|---|\n${options.join('\n')}\n`
    const { title, lines } = notes?.() ?? { title: '', lines: [] }
    const more =
      title === ''
        ? ''
        : `\n${title[0]!.toUpperCase()}${title.slice(1)}: ${lines.map((line) => `\`${line}\``).join(', ')}.\n`
    const usage = `stuntdouble ${name}${operands === undefined ? '' : ` ${operands.hint}`}${options.length === 0 ? '' : ' [OPTIONS]'}`
    sections.push(`## ${usage}\n\n${description}\n\n\`\`\`sh\n${examples.join('\n')}\n\`\`\`\n${table}${more}`)
  }
  const codes = Object.entries(exitCodes).map(([code, what]) => `| ${code} | ${what} |`)
  return `# The command line

Generated from the table of commands: \`npm run docs\`. \`npx stuntdouble COMMAND --help\` tells the same.

Every command ends with one of these numbers:

| Exit code | |
|---|---|
${codes.join('\n')}

Results go to the standard output, mistakes to the standard error, each as a sentence. Colours and progress are for terminals: a pipe gets plain text, and \`NO_COLOR=1\` takes colours from a terminal, too. Ctrl-C ends \`serve\`, \`open\` and \`tail\` with 0.

${sections.join('\n')}`
}
