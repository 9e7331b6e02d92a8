import { type Bytes, toBase64, toBase64Url, utf8 } from '../kernel/bytes.js'
import { hmacSha256 } from '../kernel/digest.js'
import { bytesOf } from '../kernel/portable.js'
import { base58Id, type Random } from '../kernel/random.js'
import { secretRandom } from '../kernel/secret-random.js'
import { queueRegions } from '../protocol/address.js'
import { defaultReadOnlyToken, devUsers } from '../queue/signing/public-users.js'
import type { SigningKeyPair } from '../queue/signing/signing.js'
import type { Store } from '../store/direct-store.js'
import { storeInternals } from '../store/store-internals.js'
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
}

/** Explicit credentials, and the secret and the name from which the other credentials are derived. */
export interface CredentialOptions {
  readonly name?: string | undefined
  readonly secret?: string
  readonly tokens?: Partial<SandboxTokens> | undefined
  readonly signingKeys?: Partial<SigningKeyPair> | undefined
}

/**
 * Tokens and signing keys by label.
 * Each token is derived from its label, so a label must never change. This is why labels differ from the names of the
 * options.
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

/** Option that holds the credential of each label. */
const placeOf: Readonly<
  Record<Label, readonly ['tokens', keyof SandboxTokens] | readonly ['signingKeys', keyof SigningKeyPair]>
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

/** Public credentials, the defaults of a server that only the local machine can reach. */
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

/**
 * Returns whether a token or key is public, because it is a default of this package or is in the vendor's
 * documentation.
 */
export function isPublic(text: string): boolean {
  return published.has(text)
}

const labels = Object.keys(defaults) as Label[]

/** Returns the names of the options whose values are public, such as `tokens.queue`. */
export function publicOnes(options: CredentialOptions): readonly string[] {
  return labels.filter((label) => published.has(givenAs(label, options))).map((label) => placeOf[label].join('.'))
}

/** Returns a copy of the options without public credentials. */
export function withoutPublicOnes<T extends CredentialOptions>(options: T): T {
  if (publicOnes(options).length === 0) return options
  const { tokens, signingKeys } = options
  return {
    ...options,
    ...(tokens !== undefined && { tokens: withoutPublic(tokens) }),
    ...(signingKeys !== undefined && { signingKeys: withoutPublic(signingKeys) }),
  }
}

function withoutPublic<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, text]) => !published.has(text))) as Partial<T>
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
  // The workflow SDK reads the user from the token, and rejects a token without a name. [queue.md 10]
  return toBase64(utf8(JSON.stringify({ UserID: name || 'defaultUser', Password: text })))
}

/** Returns the initial tokens of a sandbox. */
export function tokensOf(given: CredentialOptions): SandboxTokens {
  return {
    store: credentialOf('storeToken', given),
    storeReadonly: credentialOf('readonlyToken', given),
    queue: credentialOf('queueToken', given),
    queueReadonly: credentialOf('queueReadonlyToken', given),
    mgmtUser: credentialOf('mgmtUser', given),
    mgmtKey: credentialOf('mgmtKey', given),
  }
}

export function signingKeysOf(given: CredentialOptions): SigningKeyPair {
  return { current: credentialOf('signingKey', given), next: credentialOf('nextSigningKey', given) }
}

/**
 * Returns the signing keys of the other region. They are derived from the secret; without a secret, they are public
 * defaults.
 * A token is valid in both regions, unless `policy.homeRegion` names the only region that accepts it.
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

/** Returns all credentials as explicit options, for another sandbox. */
export function credentialsOf(given: CredentialOptions): {
  readonly tokens: SandboxTokens
  readonly signingKeys: SigningKeyPair
} {
  return { tokens: tokensOf(given), signingKeys: signingKeysOf(given) }
}

/** Returns all credentials by label. */
function labeled(given: CredentialOptions): Readonly<Record<string, string>> {
  return Object.fromEntries(labels.map((label) => [label, credentialOf(label, given)]))
}

/**
 * Returns the random source for credentials that are created later. It cannot be predicted without the secret.
 * Returns `undefined` if there is no secret; the seed then determines these credentials.
 */
export function secretDraws({ secret, name = '' }: CredentialOptions): Random | undefined {
  return secret === undefined ? undefined : secretRandom(derived(secret, 'draws', name))
}

/**
 * Returns a fingerprint that is equal in dumps of sandboxes with the same initial credentials, and does not reveal the
 * credentials. Returns `undefined` if there is no secret.
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
 * Returns the dump of another sandbox with the credentials of the loading sandbox, which has a secret.
 * The loading sandbox keeps its own tokens, because the tokens in the dump may be public. Users keep their rules
 * without passwords and need new tokens.
 */
export function withoutCredentials(
  dump: SandboxDump,
  { store, regions }: { readonly store: Store; readonly regions: Regions },
): SandboxDump {
  const { tokens, key } = storeInternals.of(store).engine.access.dump()
  const users = dump.access.users.map(({ name, rules }) => ({
    name,
    rules: rules.filter((rule) => !bytesOf(rule).startsWith('>')),
  }))
  return {
    ...dump,
    access: { tokens, key, users },
    queue: { ...dump.queue, keys: { ...regions.keysIn(regions.home.name), former: [] } },
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

function derived(secret: string, what: string, name: string): Bytes {
  return hmacSha256(utf8(secret), utf8(`stuntdouble\0${what}\0${name}`))
}
