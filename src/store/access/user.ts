import { type Bytes, latin1, toHex } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import type { Work } from '../../kernel/work.js'
import type { Denial } from '../command/errors.js'

import type { Permissible } from './categories.js'
import { type Named, Permissions, RefusedRule, type RuleContext } from './permissions.js'

/** User with a token. The two built-in users are `default` and `default_ro`. [store.md 6.1] */
export interface User {
  readonly name: string
  /** Whether every command and key is allowed, so that checks can be skipped. */
  readonly unrestricted: boolean
  mayRun(command: Permissible): boolean
  /**
   * Returns the reason why the user may not run a command with these keys and channels. Returns `undefined` if the user
   * may run it.
   */
  denial(command: Permissible, named: Named, work?: Work): Denial | undefined
}

/** User that ACL SETUSER created. Rules are applied from left to right. [store.md 6.3, redis 7.0] */
export class AclUser implements User {
  readonly unrestricted = false
  enabled = false
  /** Whether every password is accepted. */
  hasNoPassword = false
  permissions: Permissions = new Permissions()
  /**
   * Selectors, which add permissions. If the user's own rules deny a command, one selector that allows the command is
   * enough.
   */
  selectors: readonly Permissions[] = []
  /**
   * Passwords of the user. Keys: password hashes, as ACL GETUSER shows them. Values: the password in plain text if it
   * is a token of GENTOKEN, otherwise `undefined`.
   */
  #passwords = new Map<string, string | undefined>()

  constructor(readonly name: Bytes) {}

  // ---- permissions ----------------------------------------------------------------------------------------------

  mayRun(command: Permissible): boolean {
    return this.permissions.mayRun(command) || this.selectors.some((one) => one.mayRun(command))
  }

  /**
   * Returns `undefined` if the user's own rules or one of the selectors allow the command. Otherwise, returns one of
   * the denials. The denial of a channel takes precedence over that of a key, and the denial of a key over that of the
   * command. [redis 7.0]
   */
  denial(command: Permissible, named: Named, work?: Work): Denial | undefined {
    let furthest: Denial | undefined
    for (const one of [this.permissions, ...this.selectors]) {
      const denial = one.denial(command, named, work)
      if (denial === undefined) return undefined
      if (furthest === undefined || order.indexOf(denial.of) > order.indexOf(furthest.of)) furthest = denial
    }
    return furthest
  }

  get patterns(): number {
    return [this.permissions, ...this.selectors].reduce((count, { patterns }) => count + patterns, 0)
  }

  // ---- passwords ------------------------------------------------------------------------------------------------

  get passwords(): ReadonlyMap<string, string | undefined> {
    return this.#passwords
  }

  accepts(password: Bytes): boolean {
    return this.hasNoPassword || this.#passwords.has(hashOf(password))
  }

  addPassword(password: Bytes, context: RuleContext): void {
    const isToken = context.isToken(this.name, password)
    if (!isToken && context.dialect === 'service') {
      throw new RefusedRule('Passwords must be tokens that ACL GENTOKEN made for this user')
    }
    this.hasNoPassword = false
    this.#passwords.set(hashOf(password), isToken ? password : undefined)
  }

  addHash(hash: string): void {
    this.hasNoPassword = false
    if (!this.#passwords.has(hash)) this.#passwords.set(hash, undefined)
  }

  removePassword(hash: string): void {
    if (!this.#passwords.delete(hash)) {
      throw new RefusedRule('The password you are trying to remove from the user does not exist')
    }
  }

  resetPasswords(): void {
    this.hasNoPassword = false
    this.#passwords.clear()
  }

  takeAnyPassword(): void {
    this.resetPasswords()
    this.hasNoPassword = true
  }

  // ---- changes --------------------------------------------------------------------------------------------------

  reset(): void {
    this.enabled = false
    this.resetPasswords()
    this.permissions.reset()
    this.selectors = []
  }

  copy(): AclUser {
    const copy = new AclUser(this.name)
    copy.take(this)
    return copy
  }

  /** Copies all settings from another object for the same user. */
  take(other: AclUser): void {
    this.enabled = other.enabled
    this.hasNoPassword = other.hasNoPassword
    this.#passwords = new Map(other.#passwords)
    this.permissions = other.permissions.copy()
    this.selectors = [...other.selectors]
  }

  // ---- display --------------------------------------------------------------------------------------------------

  get flags(): readonly string[] {
    return [this.enabled ? 'on' : 'off', ...this.permissions.flags, ...(this.hasNoPassword ? ['nopass'] : [])]
  }

  /** Rules with which ACL SETUSER creates the same user. */
  get rules(): readonly Bytes[] {
    const passwords = [...this.#passwords].map(([hash, token]) => (token === undefined ? `#${hash}` : `>${token}`))
    const selectors = this.selectors.map(({ rules }) => `(${rules.join(' ')})`)
    const head = ['reset', this.enabled ? 'on' : 'off', ...(this.hasNoPassword ? ['nopass'] : []), ...passwords]
    return [...head, ...this.permissions.rules, ...selectors].map(latin1)
  }
}

/** Order in which the parts of a command are checked. */
const order: readonly Denial['of'][] = ['command', 'key', 'channel']

function hashOf(password: Bytes): string {
  return toHex(sha256Bytes(password))
}
