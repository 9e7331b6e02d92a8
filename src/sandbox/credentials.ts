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

/** What clients sign in with. */
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

/** Whose credentials: those that are given, and what the others come of. */
export interface CredentialOptions {
  readonly name?: string | undefined
  readonly secret?: string
  readonly tokens?: Partial<SandboxTokens> | undefined
  readonly signingKeys?: Partial<SigningKeyPair> | undefined
}

/**
 * What clients sign in with and verify deliveries with, by the label that it is derived with. The labels are older than
 * the options and never change, or every derived token would.
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

/** Where the options have each of them. */
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

/** Public defaults of this package: fine on one's own machine, where nobody else can call. */
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

/** All but the name of a user, which proves nothing. */
const { mgmtUser: _, ...provingDefaults } = defaults

const published: ReadonlySet<string | undefined> = new Set([
  ...Object.values(provingDefaults),
  ...devUsers.flatMap(({ token, current, next }) => [token, current, next]),
])

/** Whether everybody can know a token or key, because it stands in this package or in the vendor's documentation. */
export function isPublic(text: string): boolean {
  return published.has(text)
}

const labels = Object.keys(defaults) as Label[]

/** The options whose values everybody can know: `tokens.queue`. */
export function publicOnes(options: CredentialOptions): readonly string[] {
  return labels.filter((label) => published.has(givenAs(label, options))).map((label) => placeOf[label].join('.'))
}

/** The same options without such values: the given ones, and what is in them, stay as they are. */
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

/** One credential of a world: the given one, else one that comes of the secret and the world's name, else the default. */
function credentialOf(label: Label, options: CredentialOptions): string {
  const { secret, name = '' } = options
  const given = givenAs(label, options)
  if (given !== undefined) return given
  if (secret === undefined || label === 'mgmtUser') return defaults[label]
  const proof = derived(secret, label, name)
  if (label === 'signingKey' || label === 'nextSigningKey') return `sig_${base58Id(secretRandom(proof), 28)}`
  const text = toBase64Url(proof)
  if (label !== 'queueToken' && label !== 'queueReadonlyToken') return text
  // The workflow SDK reads the user out of the token, and refuses one without a name. [queue.md 10]
  return toBase64(utf8(JSON.stringify({ UserID: name || 'defaultUser', Password: text })))
}

/** The tokens that a world begins with. */
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
 * The keys of the other region: of the secret where there is one, else those of the next of the public users. A token is
 * good for both regions, unless `policy.homeRegion` says which one knows it.
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

/** All of them, as options of another sandbox. */
export function credentialsOf(given: CredentialOptions): {
  readonly tokens: SandboxTokens
  readonly signingKeys: SigningKeyPair
} {
  return { tokens: tokensOf(given), signingKeys: signingKeysOf(given) }
}

/** All of them, by their labels. */
function labelled(given: CredentialOptions): Readonly<Record<string, string>> {
  return Object.fromEntries(labels.map((label) => [label, credentialOf(label, given)]))
}

/** What a world draws credentials from later, so that nobody can foretell them; without a secret that is the seed. */
export function secretDraws({ secret, name = '' }: CredentialOptions): Random | undefined {
  return secret === undefined ? undefined : secretRandom(derived(secret, 'draws', name))
}

/** Tells dumps of worlds that began with the same credentials from all others, without giving them away. */
export function sealOf(given: CredentialOptions): string | undefined {
  const { secret, name = '' } = given
  if (secret === undefined) return undefined
  return toBase64Url(derived(secret, `dump ${JSON.stringify(labelled(given))}`, name))
}

/** A short secret can be found by trying. */
const shortestSecret = 16

export function checkSecret(secret: string | undefined): void {
  if (secret === undefined || (typeof secret === 'string' && secret.length >= shortestSecret)) return
  throw new TypeError(
    `A secret from which tokens are derived has at least ${shortestSecret} characters: make one with "openssl rand -base64 24".`,
  )
}

/**
 * A dump of a world with other credentials, as a world with a secret takes it: what lets one in stays the world's own,
 * or tokens that everybody knows would come in with it. Users keep their rules and need new tokens.
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
