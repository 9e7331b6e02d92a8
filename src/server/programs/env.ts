import { connect } from '../../client/connect.js'
import { excerpt, plainText } from '../../report/safe-text.js'
import { controlTokenVariable, fromEnvironment } from '../config.js'
import { type Given, type Program, textOf, UsageError } from '../program.js'

const formats = {
  shell: (name: string, value: string) => `export ${name}='${value.replaceAll("'", "'\\''")}'`,
  dotenv: (name: string, value: string) => `${name}="${value.replace(/(["\\$`])/g, '\\$1')}"`,
  github: (name: string, value: string) => `${name}=${value}`,
  powershell: (name: string, value: string) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
  json: undefined,
} as const

export const program: Program = {
  args: {
    url: { type: 'string', valueHint: 'URL', default: 'http://127.0.0.1:4010', description: 'the running server' },
    tenant: { type: 'string', valueHint: 'NAME', default: 'main', description: 'whose addresses and tokens' },
    format: {
      type: 'string',
      valueHint: Object.keys(formats).join('|'),
      default: 'shell',
      description: 'for whom the lines are',
    },
    'control-token': {
      type: 'string',
      valueHint: 'T',
      description: `token that the server asks other machines for, also as ${controlTokenVariable}`,
    },
  },
  examples: [
    'eval "$(stuntdouble env)"',
    'stuntdouble env --format dotenv > .env.test',
    'stuntdouble env --format github >> "$GITHUB_ENV"',
  ],
  run: async (given) => {
    const env = await environmentOf(given)
    const name = textOf(given, 'format', 'FORMAT')!
    if (!Object.hasOwn(formats, name)) {
      throw new UsageError(`--format is one of ${Object.keys(formats).join(', ')}, not ${JSON.stringify(name)}.`)
    }
    const line = formats[name as keyof typeof formats]
    if (line === undefined) console.log(JSON.stringify(env, undefined, 2))
    else for (const [variable, value] of Object.entries(env)) console.log(line(variable, value))
    return 0
  },
}

async function environmentOf(given: Given): Promise<Readonly<Record<string, string>>> {
  const { env } = await connected(given)
  for (const [name, value] of Object.entries(env)) {
    if (/^[A-Za-z_]\w{0,200}$/.test(name) && typeof value === 'string' && plainText(value) === value) continue
    throw new UsageError(
      `The server at ${textOf(given, 'url', 'URL')} gives a variable that is not safe for a shell: ${excerpt(`${name}=${value}`, 80)}. Is it stuntdouble serve?`,
    )
  }
  return env
}

/** The tenant that the options name. @throws UsageError where no server answers */
export async function connected(given: Given): ReturnType<typeof connect> {
  const controlToken = textOf(fromEnvironment(given), 'control-token', 'T')
  try {
    return await connect(textOf(given, 'url', 'URL')!, {
      tenant: textOf(given, 'tenant', 'NAME')!,
      ...(controlToken !== undefined && { controlToken }),
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
