import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { controlOperations } from '../src/control/control.js'
import { type StuntdoubleServer, startServer } from '../src/server.js'

interface Operation {
  operationId: string
  summary: string
  parameters: { name: string; in: string; required?: boolean }[]
  requestBody?: { content: Record<string, { schema: { type?: string; properties?: object }; example?: unknown }> }
  responses: Record<string, { content: Record<string, unknown> }>
}
interface Document {
  openapi: string
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
}

let server: StuntdoubleServer
let document: Document

beforeAll(async () => {
  server = await startServer({ port: 0, clock: 'manual' })
  document = (await (await fetch(`${server.origin}/_control/openapi.json`)).json()) as Document
})
afterAll(() => server.close())

const operations = (): [path: string, method: string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [path, method, operation] as [string, string, Operation]),
  )

describe('the OpenAPI document', () => {
  test('contains its version and the URL of the server', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(document.servers).toEqual([{ url: server.origin }])
  })

  test('contains every operation of the table', () => {
    const served = operations().map(([path, method]) => `${method.toUpperCase()} ${path}`)
    for (const { method, path } of controlOperations) {
      expect(served).toContain(`${method} /_control/{tenant}${path.replace(/:(\w+)/g, '{$1}')}`)
    }
  })

  test('gives each operation a unique ID, and declares its path parameters', () => {
    const ids = operations().flatMap(([, , { operationId }]) => operationId ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    for (const [path, , { parameters, summary }] of operations()) {
      expect(summary).toMatch(/\.$/)
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = (parameters ?? []).filter((parameter) => parameter.in === 'path').map(({ name }) => name)
      expect(declared).toEqual(named)
    }
  })

  test('describes request bodies', () => {
    const advance = document.paths['/_control/{tenant}/clock/advance']!.post!
    expect(advance.requestBody!.content['application/json']).toMatchObject({
      schema: { type: 'object', required: ['by'], additionalProperties: false },
      example: { by: '5m' },
    })
    const stream = document.paths['/_control/{tenant}/traffic/stream']!.get!
    expect(Object.keys(stream.responses['200']!.content)).toEqual(['text/event-stream'])
  })
})

test('contains only examples of bodies that their operations accept', async () => {
  const needsSomething = /:id|upcoming/
  for (const { method, path, example } of controlOperations) {
    if (example === undefined || needsSomething.test(path)) continue
    const answer = await fetch(`${server.origin}/_control/examples${path.replace(/:\w+/g, 'named')}`, {
      method,
      body: JSON.stringify(example),
    })
    expect([path, answer.status, answer.ok ? '' : await answer.text()]).toEqual([path, 200, ''])
  }
})
