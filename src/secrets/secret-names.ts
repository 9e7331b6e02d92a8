// Names of headers, JSON fields, parameters and hash fields whose values are secrets. Everything that shows captured
// data uses this list, and so does the import of production logs.

/**
 * Matches secret words anywhere in a name: `dbPassword`, `X-Api-Key`, `access_token`. The name must first be converted
 * to lower case without punctuation.
 */
const within =
  /token|secret|passw(?:or)?d|passphrase|apikey|accesskey|accountkey|privatekey|signingkey|encryptionkey|authorization|cookie|signature|credential|session(?:id|key)|bearer|hmac|bypass|[cx]srf|cardnumber/
/** Matches a separate word of a name: `x-auth`, `user_pin`, `cardCvc`. */
const word = /(?:^|-)(?:auth|pwd|pin|sid|sig|jwt|otp|cvc|cvv|iban|ssn|creds)(?:-|$)/
/**
 * Matches the whole name `pass` (of a mail account), and `session` (of a visitor) as the last word of a name. Elsewhere
 * in a name, these words are not secret.
 */
const lastWord = /^pass$|(?:^|-)session$/
/** Harmless words that contain a secret word, such as `secretary` and `tokenizer`. */
const ordinary = /secretar(?:y|ies|iat)|tokeni[sz](?:e[rds]?|ing|ation)|passwordless/g
/** Names that contain a secret word but describe only a count, kind or limit, such as `maxTokens`. */
const harmless =
  /^(?:maxtokens|tokens|nexttoken|cookieconsent)$|(?:token|secret|password|cookie|signature|credential|auth)s?(?:count|types?|kind|limit|length|size|version|algorithm|expiry|expires(?:at|in)?|ttl|maxage|samesite)$/
/** Names for which a number can be the secret itself: `pin`, `password`, but not `input_tokens`. */
const numeric =
  /(?:token|secret|passw(?:or)?d|passphrase|key|pin|otp|pwd|pass|cvc|cvv|iban|ssn|cookie|session|sid|cardnumber|credential)$/

/** Returns a name in lower case without dashes, underscores and brackets. */
export function plainName(name: string): string {
  return decodedName(name)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
}

/** Maximum characters of a name. A longer text is not a name. */
const longest = 256
/**
 * Fast check before the patterns above. Every name that one of the patterns above matches also matches this pattern,
 * and few other names match it.
 */
const inkling =
  /tok|sec|pass|key|auth|cook|sig|cred|sess|bear|hmac|bypa|srf|pwd|pin|sid|jwt|otp|cvc|cvv|iban|ssn|card|%/i

export function isSecretName(name: string): boolean {
  if (name.length > longest || !inkling.test(name)) return false
  const plain = plainName(name)
  return !harmless.test(plain) && namesSecret(name, plain)
}

/**
 * Returns whether a list or an object with this name contains secrets. The number `tokens` may be a count, but a list
 * with this name contains secrets.
 */
export function isSecretGroup(name: string): boolean {
  return isSecretName(name) || /^tokens$/i.test(name)
}

export function isSecretNumber(name: string): boolean {
  return isSecretName(name) && numeric.test(plainName(name))
}

function namesSecret(name: string, plain: string): boolean {
  if (plain.length < 3) return false
  if (within.test(plain.replace(ordinary, ''))) return true
  const spelled = decodedName(name)
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  return word.test(spelled) || lastWord.test(spelled)
}

function decodedName(name: string): string {
  if (!name.includes('%')) return name
  return name.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
