import { type Option, type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { connect, type RemoteSandbox } from '../../../../src/client/connect.js'
import { didYouMean } from '../../../../src/kernel/nearest-name.js'
import { excerpt, plainText } from '../../../../src/report/safe-text.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { commandEnvironment, controlTokenOption, fromEnvironment } from '../config.js'

const formats = {
  shell: (name: string, value: string) => `export ${name}='${value.replaceAll("'", "'\\''")}'`,
  dotenv: (name: string, value: string) => `${name}="${value.replace(/(["\\$`])/g, '\\$1')}"`,
  github: (name: string, value: string) => `${name}=${value}`,
  powershell: (name: string, value: string) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
  json: undefined,
} as const

/** Option `--database` of commands that print or set the environment of an app. */
export const databaseOption: Option = {
  type: 'string',
  valueHint: 'NAME',
  description: 'added database that the app uses (default: first database)',
}

/**
 * Returns the environment for an app that uses a database of a sandbox.
 * @throws UsageError when there is no such database
 */
export function databaseEnvironment(
  sandbox: Pick<Sandbox | RemoteSandbox, 'env' | 'envFor'>,
  database: string | undefined,
): Readonly<Record<string, string>> {
  try {
    return database === undefined ? sandbox.env : sandbox.envFor({ database })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

export const program: Program = {
  args: {
    url: { type: 'string', valueHint: 'URL', default: 'http://127.0.0.1:4010', description: 'running server' },
    tenant: {
      type: 'string',
      valueHint: 'NAME',
      default: 'main',
      description: 'tenant whose URLs and tokens are printed',
    },
    database: databaseOption,
    format: {
      type: 'string',
      valueHint: Object.keys(formats).join('|'),
      default: 'shell',
      description: 'syntax of the output',
    },
    'control-token': controlTokenOption,
  },
  examples: [
    'eval "$(stuntdouble env)"',
    'stuntdouble env --format dotenv > .env.test',
    'stuntdouble env --database us --format dotenv > .env.us',
    'stuntdouble env --format github >> "$GITHUB_ENV"',
  ],
  run: async (given) => {
    const env = await environmentOf(given)
    const name = textOf(given, 'format', 'FORMAT')!
    if (!Object.hasOwn(formats, name)) {
      throw new UsageError(`--format must be one of ${Object.keys(formats).join(', ')} (got ${JSON.stringify(name)}).`)
    }
    const line = formats[name as keyof typeof formats]
    if (line === undefined) console.log(JSON.stringify(env, undefined, 2))
    else for (const [variable, value] of Object.entries(env)) console.log(line(variable, value))
    return 0
  },
}

async function environmentOf(given: ParsedArguments): Promise<Readonly<Record<string, string>>> {
  const [origin, tenant] = [textOf(given, 'url', 'URL')!, textOf(given, 'tenant', 'NAME')!]
  const own = databaseEnvironment(await connected(given), textOf(given, 'database', 'NAME'))
  const env = commandEnvironment(origin, tenant, own)
  for (const [name, value] of Object.entries(env)) {
    if (/^[A-Za-z_]\w{0,200}$/.test(name) && typeof value === 'string' && plainText(value) === value) continue
    throw new UsageError(
      `The server at ${origin} returned a variable that is not safe for a shell: ${excerpt(`${name}=${value}`, 80)}. Check that it is a stuntdouble server.`,
    )
  }
  return env
}

/** Connects to the tenant that the options name. @throws UsageError when no server responds */
export async function connected(given: ParsedArguments): ReturnType<typeof connect> {
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

/**
 * Rejects a tenant that does not exist, because a request would create it. The name `main` is always accepted.
 * @throws UsageError that lists the existing tenants
 */
export async function refuseUnknownTenant(given: ParsedArguments): Promise<void> {
  const name = textOf(given, 'tenant', 'NAME')!
  if (name === 'main') return
  const tenants = await tenantsOf(given).catch(() => undefined)
  if (tenants === undefined || tenants.includes(name)) return
  const known = tenants.map(plainText)
  throw new UsageError(
    `The server at ${textOf(given, 'url', 'URL')} has no tenant ${JSON.stringify(name)}.${didYouMean(name, known)} ${known.length === 0 ? 'It has no tenants yet.' : `Its tenants: ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}.`}`,
  )
}

/**
 * Returns the names of a server's tenants. Returns `undefined` for an invalid response, because `connect()` then
 * reports the error.
 */
async function tenantsOf(given: ParsedArguments): Promise<readonly string[] | undefined> {
  const token = textOf(fromEnvironment(given), 'control-token', 'T')
  const answer = await fetch(new URL('/_control', textOf(given, 'url', 'URL')), {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(patience),
  })
  const { tenants } = (await answer.json()) as { tenants?: unknown }
  return Array.isArray(tenants) && tenants.every((one) => typeof one === 'string') ? tenants : undefined
}

/** Timeout for the list of tenants, in milliseconds of host time. */
const patience = 10_000
