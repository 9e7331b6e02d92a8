import { expect, test } from 'vitest'
import { eventReader, serverEvents } from '../../src/kernel/server-events.js'

// Specification: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

test.each([
  ['without a space after the colon', 'data:a\n\n', [{ name: 'message', data: 'a' }]],
  ['with a name', 'event: reset\ndata: {}\n\n', [{ name: 'reset', data: '{}' }]],
  ['with several lines of data', 'data: a\ndata: b\n\n', [{ name: 'message', data: 'a\nb' }]],
  [
    'with line ends of Windows',
    'data: a\r\n\r\ndata: b\r\n\r\n',
    [
      { name: 'message', data: 'a' },
      { name: 'message', data: 'b' },
    ],
  ],
  ['beside comments', ': hello\n\ndata: a\n\n', [{ name: 'message', data: 'a' }]],
  ['without an end', 'data: a\n', []],
])('reads an event %s', (_, text, events) => {
  expect(eventReader()(bytes(text))).toEqual(events)
})

test('reads events from chunks that are cut anywhere', async () => {
  const whole = bytes('data: Straße\n\nevent: x\ndata: 2\n\n')
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      for (const byte of whole) stream.enqueue(Uint8Array.of(byte))
      stream.close()
    },
  })
  const read: string[] = []
  for await (const events of serverEvents(body)) for (const { name, data } of events) read.push(`${name} ${data}`)
  expect(read).toEqual(['message Straße', 'x 2'])
})

test('cancels the body when the caller stops reading', async () => {
  let isCanceled = false
  const body = new ReadableStream<Uint8Array>({
    pull: (stream) => stream.enqueue(bytes('data: a\n\n')),
    cancel() {
      isCanceled = true
    },
  })
  for await (const _ of serverEvents(body)) break
  expect(isCanceled).toBe(true)
})
