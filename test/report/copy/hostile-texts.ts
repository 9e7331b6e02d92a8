// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they must be inside quotes.

// Texts of an attacker who hopes that a copy is pasted into a terminal or an editor.

/** Each text would create a file if it were executed. */
export const hostile: readonly string[] = [
  '$(touch canary)',
  '`touch canary`',
  "'; touch canary; '",
  "'$(touch canary)'",
  '"; touch canary; "',
  '"$(touch canary)"',
  "\\'; touch canary #",
  "$'\\'; touch canary",
  '\ntouch canary\n',
  '\r\ntouch canary\r\n',
  '\r\nx-evil: 1\r\n\r\ntouch canary',
  'EOF\ntouch canary\nEOF',
  '| touch canary |',
  '&& touch canary',
  '<(touch canary)',
  '!touch canary',
  '!!',
  '~/x*?[a-z]{1,2}',
  '-o canary',
  '--output=canary',
  '@/etc/passwd',
  '@-',
  '</script><script>require("fs").writeFileSync("canary","")</script>',
  '<!-- --><!--',
  '${require("fs").writeFileSync("canary","")}',
  '`${require("fs").writeFileSync("canary","")}`',
  "'+require('fs').writeFileSync('canary','')+'",
  '"+require("fs").writeFileSync("canary","")+"',
  "\\'+require('fs').writeFileSync('canary','')+\\'",
  '*/require("fs").writeFileSync("canary","")/*',
  '\u2028require("fs").writeFileSync("canary","")\u2029',
  '//\nrequire("fs").writeFileSync("canary","")',
  '{{ x }} <%= x %> #{x} ${{ x }}',
  '!!js/function "function(){}"',
  '&a [*a, *a]',
  '<<: *a',
  '- a: b\n  c: d\n',
  '%TAG ! tag:x,2000:',
  '__proto__',
  'constructor',
  '\x1b]0;title\x07\x1b[2J\x1b[31m',
  '\u202eabc\u202c',
  '\u{e0041}\u{e007f}',
  '\u200b\ufeff',
  '\ud83d\ude00 é ü 漢字',
  '***',
  'a***b***',
  ' leading and trailing ',
  '\\',
  '\\\\"',
  "'",
  '"',
  '%00%0a%s%n',
  'x'.repeat(3000),
]

const pieces = [
  ...["'", '"', '`', '$', '(', ')', '{', '}', '\\', '\n', '\r', ';', '|', '&', '<', '>', '!', '#', '*', '?', '~', ' '],
  ...[
    '$(touch canary)',
    '`touch canary`',
    '${x}',
    '*/',
    '//',
    '</script>',
    '\u2028',
    '\u2029',
    '\x1b[',
    '\x07',
    '@',
    '-',
  ],
  ...[
    'touch canary',
    'require("fs").writeFileSync("canary","")',
    '\\x27',
    "\\'",
    "$'",
    'EOF',
    ':',
    ',',
    '%',
    '***',
    'é',
    '漢',
    '😀',
    'a',
    '1',
  ],
]

/** Random texts of such parts. The same texts each time. */
export function randomHostile(count: number, seed = 7): readonly string[] {
  let state = seed
  const below = (most: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 0x1_0000_0000) * most)
  }
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + below(12) }, () => pieces[below(pieces.length)]).join(''),
  )
}
