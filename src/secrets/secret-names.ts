// Names of headers, JSON fields, parameters and hash fields whose values are secrets. Everything that shows captured
// data uses this list, and so does the import of production logs.

/**
 * Matches secret words anywhere in a name, which is in lower case and has no punctuation: `dbPassword`, `X-Api-Key`,
 * `access_token`.
 */
const within =
  /token|secret|passw(?:or)?d|passphrase|apikey|accesskey|accountkey|privatekey|signingkey|encryptionkey|authorization|cookie|signature|credential|session(?:id|key)|bearer|hmac|bypass|[cx]srf|cardnumber/
/** Matches a separate word of a name: `x-auth`, `user_pin`, `cardCvc`. */
const word = /(?:^|-)(?:auth|pwd|pin|sid|sig|jwt|otp|cvc|cvv|iban|ssn|creds)(?:-|$)/
/**
 * Matches words that are secret only as the whole name or as its last word: `pass` of a mail account, `session` of a
 * visitor.
 */
const lastWord = /^pass$|(?:^|-)session$/
/** Ordinary words that contain one of the secret words. */
const ordinary = /secretar(?:y|ies|iat)|tokeni[sz](?:e[rds]?|ing|ation)|passwordless/g
/** Names that only look secret: counts, kinds and limits. */
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
/** Prefilter: matches every name that one of the patterns above can match, and few other names. */
const inkling =
  /tok|sec|pass|key|auth|cook|sig|cred|sess|bear|hmac|bypa|srf|pwd|pin|sid|jwt|otp|cvc|cvv|iban|ssn|card|%/i

export function isSecretName(name: string): boolean {
  if (name.length > longest || !inkling.test(name)) return false
  const plain = plainName(name)
  return !harmless.test(plain) && namesSecret(name, plain)
}

/**
 * Returns whether the items of a list or an object with this name are secrets. `tokens` may be a count, but a list of
 * tokens is not.
 */
export function isSecretGroup(name: string): boolean {
  return isSecretName(name) || /^tokens$/i.test(name)
}

/** Returns whether a number with this name is a secret. */
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
