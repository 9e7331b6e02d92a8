import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import { sha1Hex } from '../../../../src/kernel/digest.js'

// Removes a script flag that packages of the vendor send. Only the service supports this flag, and a real Redis would
// reject it. The flag allows other scripts to run at the same time, which a real Redis cannot do anyway.

const flag = 'allow-key-locking'

/**
 * Translates digests: the app uses the digest of a script with the flag, and the real Redis knows the script without
 * the flag.
 */
export class ScriptDigests {
  readonly #digests = new Map<string, Bytes>()

  /**
   * Removes the flag from the script in a command, or translates the digests in a command. Returns all other commands
   * unchanged.
   */
  withoutFlag(argv: readonly Bytes[]): readonly Bytes[] {
    const name = argv[0]!.toUpperCase()
    const at = name === 'SCRIPT' ? 2 : 1
    const word = argv[at]
    if (word === undefined) return argv
    if (/^EVAL(?:_RO)?$/.test(name) || (name === 'SCRIPT' && /^LOAD$/i.test(argv[1]!))) {
      const source = sourceWithout(word)
      if (source === word) return argv
      this.#digests.set(sha1Hex(word), latin1(sha1Hex(source)))
      return [...argv.slice(0, at), source, ...argv.slice(at + 1)]
    }
    const isDigest = (index: number): boolean =>
      name === 'SCRIPT' ? index > 1 && /^EXISTS$/i.test(argv[1]!) : index === 1 && /^EVALSHA(?:_RO)?$/.test(name)
    return argv.map((each, index) => (isDigest(index) ? (this.#digests.get(each.toLowerCase()) ?? each) : each))
  }
}

/**
 * Removes the flag from a script. The lines of the script keep their numbers, because error messages contain line
 * numbers.
 */
function sourceWithout(source: Bytes): Bytes {
  const [first] = /^#!lua[^\n]*/.exec(source) ?? ['']
  const flags = / flags=(\S*)/.exec(first)?.[1]?.split(',') ?? []
  if (!flags.includes(flag)) return source
  const others = flags.filter((each) => each !== flag)
  const line = first.replace(/ flags=\S*/, others.length === 0 ? '' : ` flags=${others.join(',')}`)
  return latin1(line + source.slice(first.length))
}
