import { expect, test } from 'vitest'
import { utf8 } from '../../src/kernel/bytes.js'
import { Redaction } from '../../src/report/redaction.js'
import { excerptBytes } from '../../src/report/safe-text.js'

// Each text takes seconds or hours if a pattern tries every way to match it.
const texts: Readonly<Record<string, string>> = {
  'words that may begin an address': `${'a.'.repeat(500_000)}://`,
  'words that may begin a token': `${'eyJaaaaaa-'.repeat(100_000)}`,
  'a list with gaps that does not end': `{"a":[${'"x"    '.repeat(2000)}!`,
  'names without values': '"a" '.repeat(500_000),
  'parameters without an end': '&a=b'.repeat(500_000),
  'spaces behind a scheme': `basic${' '.repeat(1_000_000)}`,
}

test.each(Object.entries(texts))('%s is redacted quickly', (_, text) => {
  expect(new Redaction({ secrets: ['a-secret-of-the-world'] }).text(text)).toBe(text)
})

test('redacting redacted text changes nothing', () => {
  const given =
    'amqp+tls://bob:pw@h/ {"tokens_of":"a","password":["x" , "y"],"list":["a"]} eyJhbGciOiJI.eyJzdWIiOiJhIn0.c2ln'
  expect(new Redaction().text(given)).toBe(
    'amqp+tls://***@h/ {"tokens_of":"***","password":["***"],"list":["a"]} eyJhbGciOiJI.eyJzdWIiOiJhIn0.***',
  )
})

test.each(['GENTOKEN', 'RESTTOKEN', 'GENPASS'])('the reply of ACL %s is a secret', (verb) => {
  expect(new Redaction().hidesReply(['ACL', verb, 'bob'])).toBe(true)
})

test('an excerpt is marked only if it was cut', () => {
  const redaction = new Redaction({ secrets: ['a-secret-of-the-world-that-is-long'] })
  const excerpt = (body: string): string => excerptBytes(utf8(body), 20, (given) => redaction.text(given))
  expect(excerpt('a-secret-of-the-world-that-is-long')).toBe('***')
  expect(excerpt('0123456789'.repeat(3))).toBe('01234567890123456789… (30 bytes)')
})
