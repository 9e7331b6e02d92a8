import { type Bytes, toBase64, toBase64Url, utf8 } from '../kernel/bytes.js'
import { hmacSha256 } from '../kernel/digest.js'
import { bytesOf } from '../kernel/portable.js'
import { base58Id, type Random } from '../kernel/random.js'
import { secretRandom } from '../kernel/secret-random.js'
import { type QueueRegion, queueRegions } from '../protocol/address.js'
import { defaultReadOnlyToken, devUsers } from '../queue/signing/public-users.js'
import type { SigningKeyPair } from '../queue/signing/signing.js'
import type { AccessDump } from '../store/access/access-control.js'
import type { StoreDatabase } from './databases.js'
import type { Regions } from './regions.js'
import type { SandboxDump } from './sandbox-dump.js'

/** Tokens and keys that clients authenticate with. */
export interface SandboxTokens {
  /** Standard token of the data store. */
  readonly store: string
  /** Read-only token of the data store. */
  readonly storeReadonly: string
  /** Token of the queue. */
  readonly queue: string
  /** Read-only token of the queue. */
  readonly queueReadonly: string
  /** User name of the management API. */
  readonly mgmtUser: string
  /** Key of the management API. */
  readonly mgmtKey: string
  /** Tokens of each added database, by name. Empty without the option `databases`. */
  readonly databases: Readonly<Record<string, DatabaseTokens>>
}

/** Tokens of one added database of the data store. */
export type DatabaseTokens = Pick<SandboxTokens, 'store' | 'storeReadonly'>

/** Tokens that clients authenticate with, as an option. An omitted token is derived from the secret, or is public. */
export interface TokenOptions extends Partial<Omit<SandboxTokens, 'databases'>> {
  /** Tokens of added databases, by name. */
  readonly databases?: Readonly<Record<string, Partial<DatabaseTokens>>> | undefined
}

/** Credentials that the user set. All other credentials are derived from the secret and the name. */
export interface CredentialOptions {
  readonly name?: string | undefined
  readonly secret?: string
  readonly tokens?: TokenOptions | undefined
  readonly signingKeys?: Partial<SigningKeyPair> | undefined
  /** Names of the added databases of the data store. */
  readonly databases?: readonly string[] | undefined
}

/**
 * Tokens and signing keys by label. Each credential is derived from its label, so a label must not change even if an
 * option is renamed. This is why labels differ from the names of the options.
 */
interface SandboxCredentials {
  readonly storeToken: string
  readonly readonlyToken: string
  readonly queueToken: string
  readonly queueReadonlyToken: string
  readonly mgmtUser: string
  readonly mgmtKey: string
  readonly signingKey: string
  readonly nextSigningKey: string
}

type Label = keyof SandboxCredentials

/** Name of the option for the credential of each label. */
const placeOf: Readonly<
  Record<
    Label,
    readonly ['tokens', Exclude<keyof SandboxTokens, 'databases'>] | readonly ['signingKeys', keyof SigningKeyPair]
  >
> = {
  storeToken: ['tokens', 'store'],
  readonlyToken: ['tokens', 'storeReadonly'],
  queueToken: ['tokens', 'queue'],
  queueReadonlyToken: ['tokens', 'queueReadonly'],
  mgmtUser: ['tokens', 'mgmtUser'],
  mgmtKey: ['tokens', 'mgmtKey'],
  signingKey: ['signingKeys', 'current'],
  nextSigningKey: ['signingKeys', 'next'],
}

function givenAs(label: Label, options: CredentialOptions): string | undefined {
  const [of, name] = placeOf[label]
  return of === 'tokens' ? options.tokens?.[name] : options.signingKeys?.[name]
}

const [firstUser] = devUsers

/** Public credentials. A server uses them by default if only the local machine can reach it. */
const defaults: SandboxCredentials = {
  storeToken: 'c3R1bnRkb3VibGU6c3RhbmRhcmQgdG9rZW4gb2YgdGhlIHN0b3Jl',
  readonlyToken: 'c3R1bnRkb3VibGU6cmVhZC1vbmx5IHRva2VuIG9mIHRoZSBzdG9yZQ==',
  queueToken: firstUser.token,
  queueReadonlyToken: defaultReadOnlyToken,
  mgmtUser: 'user@stuntdouble.test',
  mgmtKey: 'management-key',
  signingKey: firstUser.current,
  nextSigningKey: firstUser.next,
}

/** All default credentials except the user name, which is not secret. */
const { mgmtUser: _, ...provingDefaults } = defaults

const published: ReadonlySet<string | undefined> = new Set([
  ...Object.values(provingDefaults),
  ...devUsers.flatMap(({ token, current, next }) => [token, current, next]),
])

/** Beginning of the public tokens of the data store, `stuntdouble:` in base64. */
const defaultPrefix = toBase64(utf8('stuntdouble:'))

/**
 * Returns whether a token or key is public, because it is a default of this package or is in the vendor's
 * documentation.
 */
export function isPublic(text: string): boolean {
  return published.has(text) || text.startsWith(defaultPrefix)
}

const labels = Object.keys(defaults) as Label[]

/** Returns the names of the options whose values are public, such as `tokens.queue`. */
export function publicOnes(options: CredentialOptions): readonly string[] {
  const own = labels.filter((label) => isPublicOption(givenAs(label, options))).map((label) => placeOf[label].join('.'))
  const added = Object.entries(options.tokens?.databases ?? {}).flatMap(([database, tokens]) =>
    (['store', 'storeReadonly'] as const)
      .filter((name) => isPublicOption(tokens[name]))
      .map((name) => `tokens.databases.${database}.${name}`),
  )
  return [...own, ...added]
}

function isPublicOption(text: string | undefined): boolean {
  return text !== undefined && isPublic(text)
}

/** Returns a copy of the options without public credentials. */
export function withoutPublicOnes<T extends CredentialOptions>(options: T): T {
  if (publicOnes(options).length === 0) return options
  const { tokens, signingKeys } = options
  return {
    ...options,
    ...(tokens !== undefined && {
      tokens: {
        ...withoutPublic(tokens),
        ...(tokens.databases && {
          databases: Object.fromEntries(
            Object.entries(tokens.databases).map(([name, given]) => [name, withoutPublic(given)]),
          ),
        }),
      },
    }),
    ...(signingKeys !== undefined && { signingKeys: withoutPublic(signingKeys) }),
  }
}

function withoutPublic<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, text]) => !isPublicOption(text))) as Partial<T>
}

/**
 * Returns one credential: the explicit value, a value derived from the secret and the sandbox's name, or the public
 * default.
 */
function credentialOf(label: Label, options: CredentialOptions): string {
  const { secret, name = '' } = options
  const given = givenAs(label, options)
  if (given !== undefined) return given
  if (secret === undefined || label === 'mgmtUser') return defaults[label]
  const proof = derived(secret, label, name)
  if (label === 'signingKey' || label === 'nextSigningKey') return `sig_${base58Id(secretRandom(proof), 28)}`
  const text = toBase64Url(proof)
  if (label !== 'queueToken' && label !== 'queueReadonlyToken') return text
  // The workflow SDK reads the name of the user from the token, and rejects a token without a name. So the token
  // contains a name even if the sandbox has none. [queue.md 10]
  return toBase64(utf8(JSON.stringify({ UserID: name || 'defaultUser', Password: text })))
}

export function tokensOf(given: CredentialOptions): SandboxTokens {
  return {
    store: credentialOf('storeToken', given),
    storeReadonly: credentialOf('readonlyToken', given),
    queue: credentialOf('queueToken', given),
    queueReadonly: credentialOf('queueReadonlyToken', given),
    mgmtUser: credentialOf('mgmtUser', given),
    mgmtKey: credentialOf('mgmtKey', given),
    databases: Object.fromEntries((given.databases ?? []).map((name) => [name, databaseTokensOf(name, given)])),
  }
}

/** Returns the tokens of an added database: the explicit ones, tokens derived from the secret, or public defaults. */
function databaseTokensOf(database: string, { secret, name = '', tokens }: CredentialOptions): DatabaseTokens {
  const given = tokens?.databases?.[database]
  const token = (label: 'storeToken' | 'readonlyToken', words: string): string =>
    secret === undefined
      ? toBase64(utf8(`stuntdouble:${words} token of the database ${database}`))
      : toBase64Url(derived(secret, `${label} of ${database}`, name))
  return {
    store: given?.store ?? token('storeToken', 'standard'),
    storeReadonly: given?.storeReadonly ?? token('readonlyToken', 'read-only'),
  }
}

export function signingKeysOf(given: CredentialOptions): SigningKeyPair {
  return { current: credentialOf('signingKey', given), next: credentialOf('nextSigningKey', given) }
}

/**
 * Returns the signing keys of the other region. With a secret, they are derived from the secret. Without a secret, they
 * are public defaults. Tokens, unlike signing keys, are valid in both regions, unless `policy.homeRegion` names the
 * only region that accepts them.
 */
export function awayKeysOf(given: CredentialOptions): SigningKeyPair {
  const { secret, name = '' } = given
  const home = signingKeysOf(given)
  if (secret === undefined) {
    const taken = [home.current, home.next]
    return devUsers.find(({ current, next }) => !taken.includes(current) && !taken.includes(next))!
  }
  const key = (which: string): string => `sig_${base58Id(secretRandom(derived(secret, `${which} away`, name)), 28)}`
  return { current: key('signingKey'), next: key('nextSigningKey') }
}

/** Returns the initial signing keys of a region. */
export function keysOf(region: QueueRegion, home: QueueRegion, given: CredentialOptions): SigningKeyPair {
  return region === home ? signingKeysOf(given) : awayKeysOf(given)
}

/** Returns the tokens and keys of a sandbox, which are secret, in one list. */
export function secretTokens({ mgmtUser: _, databases, ...tokens }: SandboxTokens): readonly string[] {
  return [tokens, ...Object.values(databases)].flatMap((some) => Object.values(some))
}

/** Returns all credentials in the form of options, so that another sandbox can have the same credentials. */
export function credentialsOf(given: CredentialOptions): {
  readonly tokens: SandboxTokens
  readonly signingKeys: SigningKeyPair
} {
  return { tokens: tokensOf(given), signingKeys: signingKeysOf(given) }
}

function labeled(given: CredentialOptions): Readonly<Record<string, unknown>> {
  const { databases } = tokensOf(given)
  return {
    ...Object.fromEntries(labels.map((label) => [label, credentialOf(label, given)])),
    ...(Object.keys(databases).length > 0 && { databases }),
  }
}

/**
 * Returns the random source for credentials that are created later. A client without the secret cannot predict them.
 * Returns `undefined` if there is no secret. Those credentials then depend on the seed.
 */
export function secretDraws({ secret, name = '' }: CredentialOptions): Random | undefined {
  return secret === undefined ? undefined : secretRandom(derived(secret, 'draws', name))
}

/**
 * Returns a fingerprint of the initial credentials, for dumps. Two sandboxes with the same credentials have the same
 * fingerprint, which does not reveal the credentials. Returns `undefined` if there is no secret.
 */
export function sealOf(given: CredentialOptions): string | undefined {
  const { secret, name = '' } = given
  if (secret === undefined) return undefined
  return toBase64Url(derived(secret, `dump ${JSON.stringify(labeled(given))}`, name))
}

/** Minimum length of a secret in characters. Shorter secrets can be found by brute force. */
const shortestSecret = 16

export function checkSecret(secret: string | undefined): void {
  if (secret === undefined || (typeof secret === 'string' && secret.length >= shortestSecret)) return
  throw new TypeError(
    `secret must have at least ${shortestSecret} characters (got ${secret.length}). Create one with "openssl rand -base64 24".`,
  )
}

/**
 * Replaces the credentials in a dump by those of the sandbox that loads the dump. Called if that sandbox has a secret
 * and the dump has other initial credentials. The tokens in the dump may be public, so they must not become valid.
 * Store users keep their rules but lose their passwords, so they need new tokens.
 */
export function withoutCredentials(
  dump: SandboxDump,
  {
    databases: [first, ...added],
    regions,
  }: { readonly databases: readonly StoreDatabase[]; readonly regions: Regions },
): SandboxDump {
  return {
    ...dump,
    access: withoutPasswords(dump.access, first!),
    ...(dump.databases && {
      databases: Object.fromEntries(
        added.map((database) => {
          const given = dump.databases![database.name!]!
          return [database.name, { ...given, access: withoutPasswords(given.access, database) }]
        }),
      ),
    }),
    queue: { ...dump.queue, keys: { ...regions.keysIn(regions.homeName), former: [] } },
    ...(dump.regions && {
      regions: Object.fromEntries(
        queueRegions.flatMap((name) => {
          const queue = dump.regions?.[name]
          return queue === undefined ? [] : [[name, { ...queue, keys: { ...regions.keysIn(name), former: [] } }]]
        }),
      ),
    }),
  }
}

/** Returns the users of a dump without their passwords, and with the tokens of the database that loads them. */
function withoutPasswords({ users }: AccessDump, { executions }: StoreDatabase): AccessDump {
  const { tokens, key } = executions.store.access.dump()
  const own = users.map(({ name, rules }) => ({
    name,
    rules: rules.filter((rule) => !bytesOf(rule).startsWith('>')),
  }))
  return { tokens, key, users: own }
}

function derived(secret: string, what: string, name: string): Bytes {
  return hmacSha256(utf8(secret), utf8(`stuntdouble\0${what}\0${name}`))
}
