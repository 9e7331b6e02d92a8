import { toJsonSchema } from '@valibot/to-json-schema'
import type { ControlOperation } from './operation.js'

/** Returns the control API as an OpenAPI 3.1 document, generated from the list of its operations. */
export function openApi(orders: readonly ControlOperation[], origin: string): object {
  const paths: Record<string, Record<string, unknown>> = {
    '/_control': { get: { summary: 'Returns the names of all tenants.', responses: good('application/json') } },
  }
  for (const order of orders) {
    const path = `/_control/{tenant}${order.path.replace(/:(\w+)/g, '{$1}')}`
    paths[path] = { ...paths[path], [order.method.toLowerCase()]: operation(order) }
  }
  paths['/_control/{tenant}']!.delete = {
    summary: 'Disposes the tenant; its next use creates a new one.',
    parameters: [pathParameter('tenant')],
    responses: good('application/json'),
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'stuntdouble control API',
      version: '1',
      description: 'Reads and controls a tenant of the server from a test.',
    },
    servers: [{ url: origin }],
    paths,
    components: {
      schemas: {
        Mistake: {
          type: 'object',
          properties: { error: { type: 'string', description: 'What is wrong, and what to do.' } },
          required: ['error'],
        },
      },
    },
  }
}

function operation(order: ControlOperation): object {
  const names = [...order.path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  return {
    operationId: operationId(order),
    summary: order.summary,
    parameters: [
      ...['tenant', ...names].map(pathParameter),
      ...Object.entries(order.query ?? {}).map(([name, description]) => ({
        name,
        in: 'query',
        description,
        schema: { type: 'string' },
      })),
    ],
    ...(order.body !== undefined && {
      requestBody: {
        content: {
          'application/json': {
            schema: toJsonSchema(order.describes ?? order.body, { errorMode: 'ignore', typeMode: 'input' }),
            ...(order.example !== undefined && { example: order.example }),
          },
        },
      },
    }),
    responses: good(order.answers ?? 'application/json'),
  }
}

/** Returns an operation ID: `POST /clock/advance-to` becomes `postClockAdvanceTo`. */
function operationId({ method, path }: ControlOperation): string {
  const words = path.split(/[/:-]+/).filter((word) => word !== '')
  const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return method.toLowerCase() + (name || 'Sandbox')
}

function pathParameter(name: string): object {
  return { name, in: 'path', required: true, schema: { type: 'string' } }
}

function good(type: string): object {
  return {
    200: { description: 'Done.', content: { [type]: {} } },
    default: {
      description: 'Error, with the next step.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Mistake' } } },
    },
  }
}
