import { groupedOptions, typedOption, usageLine } from '../../packages/server/src/programs/command-help.js'
import { exitCodes, programs } from '../../packages/server/src/programs/programs.js'

/** Returns the text of docs/cli.md. */
export async function commandLinePage(): Promise<string> {
  const sections: string[] = []
  const overview: string[] = []
  for (const [name, { description, load }] of Object.entries(programs)) {
    const { program } = await load()
    const groups = groupedOptions(program)
    const tables = groups.map(([group, options]) => {
      const rows = options.map(
        ([option, row]) =>
          `| \`${escaped(typedOption(option, row))}\` | ${row.default === undefined ? '' : `\`${row.default}\``} | ${escaped(row.description ?? '')} |`,
      )
      const heading = groups.length === 1 ? 'Option' : `${group[0]!.toUpperCase()}${group.slice(1)} option`
      return `\n| ${heading} | Default | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`
    })
    const { examples, notes } = program
    const { title, lines } = notes?.() ?? { title: '', lines: [] }
    const more = title === '' ? '' : `\n${title}: ${lines.map((line) => `\`${line}\``).join(', ')}.\n`
    sections.push(
      `## stuntdouble ${name}\n\n${description}: \`${usageLine(name, program)}\`\n\n\`\`\`sh\n${examples.join('\n')}\n\`\`\`\n${tables.join('')}${more}`,
    )
    overview.push(
      `| [\`${name}\`](#stuntdouble-${name.replaceAll(' ', '-')}) | ${description[0]!.toLowerCase()}${description.slice(1)} |`,
    )
  }
  const codes = Object.entries(exitCodes).map(([code, { full }]) => `| ${code} | ${full} |`)
  return `# Command line

Look up each command of \`npx stuntdouble\` with its options:

\`\`\`sh
npx stuntdouble serve --port 4010 --clock manual
\`\`\`

\`npx stuntdouble COMMAND --help\` prints the same options; if a command has many, \`--help all\` prints all of them.

| Command | Use |
|---|---|
${overview.join('\n')}

Results go to standard output, and errors go to standard error, one line each. Colors and progress appear only on a terminal, and \`NO_COLOR=1\` turns colors off. Ctrl-C ends \`serve\`, \`open\` and \`tail\` with exit code 0.

| Exit code | Meaning |
|---|---|
${codes.join('\n')}

${sections.join('\n')}`
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|')
}
