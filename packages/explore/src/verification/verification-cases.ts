import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import { type SignatureFlaw, signatureFlaws } from '../../../../src/queue/signing/signature-lab.js'

// Deliveries to an app that should verify signatures. Correct deliveries have every variant that the app must accept,
// and wrong deliveries every variant that it must reject.

/** Correctly signed deliveries. They differ in the signing key and in the formatting of the body. */
export const rightSignatures = ['current', 'next', 'indented', 'tabs', 'spaced', 'escaped'] as const
export const otherSpellings: readonly VerificationCase[] = rightSignatures.slice(2)
type RightSignature = (typeof rightSignatures)[number]

/** Name of a delivery: a flaw of the signature, a key, or a formatting of the body. */
export type VerificationCase = RightSignature | 'unsigned' | SignatureFlaw

export interface SignedDelivery {
  readonly body: string
  /** Flaw of the signature. Absent for a correct signature with the current key. */
  readonly flaw?: SignatureFlaw | 'rotated'
  /** Whether the delivery arrives without a signature. */
  readonly unsigned?: boolean
}

export interface Question {
  readonly name: VerificationCase
  readonly wanted: 'accepted' | 'refused'
  /** Short description of the delivery. */
  readonly what: string
  /** Probable defect of the app if it does not respond as wanted. */
  readonly because: string
  readonly deliveries: readonly SignedDelivery[]
}

export const unknownKey = 'the app does not know the current key'

const reserialises =
  'the body is parsed and serialized again before it is verified. Verify the raw text: await request.text()'

/** Probable defect of an app that accepts a delivery with this flaw. */
export const causes: Readonly<Record<SignatureFlaw | 'unsigned', string>> = {
  unsigned: 'the signature is only checked if there is one. Reject a request without a signature',
  url: "the claim `sub` is not compared with the app's own URL, so a delivery that was signed for another URL is accepted. The SDK's Receiver compares `sub` if verify() gets { url }. The SDK's wrappers, such as verifySignatureAppRouter, never compare it",
  body: 'the claim `body` is not compared with the hash of the body: an attacker with one signed delivery can send any body',
  reserialized: reserialises,
  expired: 'the claim `exp` is not compared with the time: an old delivery can be sent again forever',
  'not-yet-valid': 'the claim `nbf` is not compared with the time',
  issuer: 'the claim `iss` is not compared with the expected issuer',
  'rotated-once': 'a rotated key is still accepted. Accept the current and the next key, nothing else',
  'rotated-twice': 'a key that was rotated twice is still accepted. Accept the current and the next key, nothing else',
  key: 'the signature itself is not verified: anyone can forge a signature. Decoding the JWT does not verify it',
  tampered: 'the signature itself is not verified: the claims can be changed. Decoding the JWT does not verify it',
}

/** Returns all deliveries of the check with this body. */
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
        'only the current key is known: every delivery is rejected after the keys are rotated. If verification with the current key fails, verify with the next key',
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
      // An app that serializes the body again could produce either formatting. Send one delivery with each formatting.
      deliveries.push({ body: indented, flaw })
    }
    return [{ name: flaw, wanted: 'refused', what: signatureFlaws[flaw], because: causes[flaw], deliveries }]
  })
  return [unsigned, ...flawed]
}

type Spelling = readonly [name: RightSignature, what: string, text: string]

/** Returns the body as JSON in other formattings, or an empty list if the body is not JSON. */
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

/** Escapes the last letter of each text, unless it ends with an escape. */
function escaped(json: string): string {
  return json.replace(new RegExp(strings.source, 'g'), (text) =>
    /\\/.test(text)
      ? text
      : text.replace(/[a-z](?="$)/i, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}
