import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import { type SignatureFlaw, signatureFlaws } from '../../../../src/queue/signing/signature-lab.js'

// What is delivered to an app that says it verifies: right in each way that it has to accept, wrong in each way it must not.

/** Correct signatures that every app has to accept: by the key, and by how the body is written. */
export const rightSignatures = ['current', 'next', 'indented', 'tabs', 'spaced', 'escaped'] as const
export const otherSpellings: readonly VerificationCase[] = rightSignatures.slice(2)
type RightSignature = (typeof rightSignatures)[number]

/** One thing that an app is asked: by the name of a flaw, of a key, or of a way to write the body. */
export type VerificationCase = RightSignature | 'unsigned' | SignatureFlaw

export interface SignedDelivery {
  readonly body: string
  /** The fault that its signature meets; none for one signed with the current key. */
  readonly flaw?: SignatureFlaw | 'rotated'
  /** Arrives without any signature. */
  readonly unsigned?: boolean
}

export interface Question {
  readonly name: VerificationCase
  readonly wanted: 'accepted' | 'refused'
  /** What is special about it. */
  readonly what: string
  /** What an app does that answers otherwise. */
  readonly because: string
  readonly deliveries: readonly SignedDelivery[]
}

export const unknownKey = 'the current key is not known'

const reserialises =
  'the body is parsed and written again before it is verified. Verify the text as it came: await request.text()'

/** What an app does that takes what is wrong. */
export const causes: Readonly<Record<SignatureFlaw | 'unsigned', string>> = {
  unsigned: 'the signature is looked at only where there is one. Refuse a request without it',
  url: "claim sub is not compared with the app's own url, so what was signed for another route counts here. The SDK's Receiver compares it when verify() is given { url }; the SDK's wrappers (verifySignatureAppRouter and others) never do",
  body: 'claim body is not compared with the hash of the body: whoever has one signed delivery can send any body',
  reserialized: reserialises,
  expired: 'claim exp is not compared with the time: a delivery that somebody has kept can be sent again for ever',
  'not-yet-valid': 'claim nbf is not compared with the time',
  issuer: 'claim iss is not compared',
  'rotated-once': 'a key is still known that was rotated away. Know the current and the next key, nothing else',
  'rotated-twice': 'a key is still known that was rotated away twice. Know the current and the next key, nothing else',
  key: 'the signature itself is not verified: anybody can make one. A token that is only decoded proves nothing',
  tampered:
    'the signature itself is not verified: the claims can be changed. A token that is only decoded proves nothing',
}

/** Each thing that an app is asked about deliveries with this body. */
export function questionsFor(body: string): readonly Question[] {
  return [...rightOnes(body), ...wrongOnes(body)]
}

function rightOnes(body: string): Question[] {
  const keys: Question[] = [
    {
      name: 'current',
      wanted: 'accepted',
      what: 'signed with the current key',
      because: unknownKey,
      deliveries: [{ body }],
    },
    {
      name: 'next',
      wanted: 'accepted',
      what: 'signed with the next key',
      because:
        'only the current key is known: every delivery is refused as soon as the keys are rotated. Where it fails, try the next one',
      deliveries: [{ body, flaw: 'rotated' }],
    },
  ]
  const written = spellingsOf(body).map(([name, what, text]): Question => {
    return { name, wanted: 'accepted', what, because: reserialises, deliveries: [{ body: text }] }
  })
  return [...keys, ...written]
}

function wrongOnes(body: string): Question[] {
  const unsigned: Question = {
    name: 'unsigned',
    wanted: 'refused',
    what: 'without any signature',
    because: causes.unsigned,
    deliveries: [{ body, unsigned: true }],
  }
  const indented = spellingsOf(body).find(([name]) => name === 'indented')?.[2]
  const flawed = (Object.keys(signatureFlaws) as SignatureFlaw[]).flatMap((flaw): Question[] => {
    const deliveries: SignedDelivery[] = [{ body, flaw }]
    if (flaw === 'reserialized') {
      if (indented === undefined) return []
      // Whoever writes it compactly meets the claim of the second, who indents it that of the first.
      deliveries.push({ body: indented, flaw })
    }
    return [{ name: flaw, wanted: 'refused', what: signatureFlaws[flaw], because: causes[flaw], deliveries }]
  })
  return [unsigned, ...flawed]
}

type Spelling = readonly [name: RightSignature, what: string, text: string]

/** The same JSON in other words; none for a body that is no JSON. */
function spellingsOf(body: string): readonly Spelling[] {
  const value = parsedJson(body)
  if (value === undefined) return []
  const indented = JSON.stringify(value, null, 2)
  const all: readonly Spelling[] = [
    ['indented', 'correctly signed, the body indented by two spaces', indented],
    [
      'tabs',
      'correctly signed, the body with tabs and CRLF',
      `${JSON.stringify(value, null, '\t').replaceAll('\n', '\r\n')}\r\n`,
    ],
    ['spaced', 'correctly signed, white space around everything in the body', ` ${spaced(JSON.stringify(value))}\n`],
    ['escaped', 'correctly signed, letters of the body written as \\u0061', escaped(JSON.stringify(value))],
  ]
  return all.filter(([, , text]) => text !== body)
}

const strings = /"(?:[^"\\]|\\.)*"/

function spaced(json: string): string {
  return json.replace(new RegExp(`(${strings.source})|([{}[\\],:])`, 'g'), (all, text) =>
    text === undefined ? ` ${all} ` : all,
  )
}

/** The last letter of each text, where no escape ends. */
function escaped(json: string): string {
  return json.replace(new RegExp(strings.source, 'g'), (text) =>
    /\\/.test(text)
      ? text
      : text.replace(/[a-z](?="$)/i, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}
