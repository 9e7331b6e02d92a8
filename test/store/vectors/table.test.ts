import { describe, expect, it } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'

// The worked examples and the score table of docs/protocol/vector.md.

/** Returns a function that runs a command, split at blanks, and returns its reply or the text of its error. */
function storeOf(options: SandboxOptions = {}): (line: string) => unknown {
  const { store } = createSandbox(options)
  return (line) => {
    try {
      return store.run(...line.split(' '))
    } catch (error) {
      return (error as Error).message
    }
  }
}

const three = ['VECTOR.CREATE i DIM 3 METRIC COSINE', 1] as const
const known = [three, ['VECTOR.ADD i a VALUES 3 1 0 0', 1], ['VECTOR.ADD i b BASE64-FP32 AAAAAAAAgD8AAAAA', 1]] as const
const near = [
  three,
  ['VECTOR.ADD i x VALUES 3 1 0 0', 1],
  ['VECTOR.ADD i 123 VALUES 3 0.9 0.1 0', 1],
  ['VECTOR.ADD i y VALUES 3 0 1 0', 1],
] as const

const examples: Readonly<Record<string, readonly (readonly [line: string, reply: unknown])[]>> = {
  '1: CREATE and INFO': [three, ['VECTOR.INFO i', ['dimension', 3, 'metric', 'COSINE']]],
  '2: ADD and COUNT': [...known, ['VECTOR.ADD i a VALUES 3 1 0 0', 0], ['VECTOR.COUNT i', 2]],
  '3: GET': [...known, ['VECTOR.GET i a', ['1', '0', '0']], ['VECTOR.GET i missing', null]],
  '4: QUERY': [...known, ['VECTOR.QUERY i TOPK 1 VALUES 3 1 0 0', [['a', '1']]]],
  '5: DEL': [...known, ['VECTOR.DEL i a', 1], ['VECTOR.DEL i a', 0], ['VECTOR.COUNT i', 1]],
  '6: EXISTSOK': [
    ['VECTOR.CREATE j DIM 2 METRIC DOT', 1],
    ['VECTOR.CREATE j DIM 2 METRIC DOT EXISTSOK', 0],
    ['VECTOR.CREATE j DIM 2 METRIC DOT', 'ERR Index j already exists'],
    ['VECTOR.CREATE j DIM 3 METRIC DOT EXISTSOK', 'ERR Index j already exists with a different configuration'],
    ['VECTOR.CREATE j DIM 2 METRIC COSINE EXISTSOK', 'ERR Index j already exists with a different configuration'],
  ],
  '7: EUCLIDEAN': [
    ['VECTOR.CREATE e DIM 2 METRIC EUCLIDEAN', 1],
    ['VECTOR.ADD e p VALUES 2 0 0', 1],
    ['VECTOR.QUERY e TOPK 1 VALUES 2 0 0', [['p', '1']]],
  ],
  '8: DROP': [
    ['VECTOR.CREATE d DIM 1 METRIC COSINE', 1],
    ['VECTOR.DROP d', 1],
    ['VECTOR.INFO d', null],
    ['VECTOR.DROP d', 0],
  ],
  '9: unknown index': [
    ['VECTOR.COUNT none', 0],
    ['VECTOR.INFO none', null],
    ['VECTOR.ADD none a VALUES 3 1 2 3', 'ERR Index none is not found'],
    ['VECTOR.GET none a', 'ERR Index none is not found'],
    ['VECTOR.DEL none a', 'ERR Index none is not found'],
    ['VECTOR.QUERY none TOPK 1 VALUES 3 1 2 3', 'ERR Index none is not found'],
  ],
  '10: order of the neighbors': [
    ...near,
    [
      'VECTOR.QUERY i TOPK 2 PROFILE PRECISE VALUES 3 1 0 0',
      [
        ['x', '1'],
        ['123', '0.99694186'],
      ],
    ],
  ],
  '11: TOPK of more than there are': [
    ...near,
    [
      'VECTOR.QUERY i TOPK 10 VALUES 3 1 0 0',
      [
        ['x', '1'],
        ['123', '0.99694186'],
        ['y', '0.5'],
      ],
    ],
  ],
  '12: direction of a vector': [
    ['VECTOR.CREATE i DIM 2 METRIC COSINE', 1],
    ['VECTOR.ADD i a VALUES 2 1 1', 1],
    ['VECTOR.ADD i b VALUES 2 1 0', 1],
    ['VECTOR.QUERY i TOPK 1 VALUES 2 1 1', [['a', '1']]],
  ],
  '13: wrong dimension': [
    ...known,
    ['VECTOR.ADD i c VALUES 2 1 0', 'ERR vector dimension mismatch: expected 3, got 2'],
    ['VECTOR.QUERY i TOPK 1 VALUES 4 1 0 0 0', 'ERR vector dimension mismatch: expected 3, got 4'],
    ['VECTOR.ADD i c BASE64-FP32 AADAvw==', 'ERR vector dimension mismatch: expected 3, got 1'],
    ['VECTOR.COUNT i', 2],
  ],
  '14: invalid arguments': [
    ...known,
    ['VECTOR.QUERY i TOPK 0 VALUES 3 1 0 0', 'ERR TOPK must be between 1 and 1000'],
    ['VECTOR.QUERY i TOPK 1001 VALUES 3 1 0 0', 'ERR TOPK must be between 1 and 1000'],
    ['VECTOR.QUERY i TOPK x VALUES 3 1 0 0', 'ERR TOPK must be between 1 and 1000'],
    ['VECTOR.QUERY i TOPK 1 VALUES 3 1 0 0 BASE64-FP32 AAAAAAAAgD8AAAAA', 'ERR syntax error'],
    ['VECTOR.QUERY i TOPK 1 PROFILE FAST', 'ERR syntax error'],
    ['VECTOR.QUERY i TOPK 1 VALUES 3 1 0 0 PROFILE SLOW', 'ERR syntax error'],
    ['VECTOR.QUERY i VALUES 3 1 0 0', 'ERR syntax error'],
    ['VECTOR.QUERY i TOPK 1', "ERR wrong number of arguments for 'vector.query' command"],
    ['VECTOR.CREATE k DIM 0 METRIC DOT', 'ERR DIM must be between 1 and 32768'],
    ['VECTOR.CREATE k DIM 32769 METRIC DOT', 'ERR DIM must be between 1 and 32768'],
    ['VECTOR.CREATE k DIM 2 METRIC HAMMING', 'ERR unknown metric'],
    ['VECTOR.CREATE k DIM 2 DIM 2', 'ERR syntax error'],
    ['VECTOR.CREATE k METRIC DOT', "ERR wrong number of arguments for 'vector.create' command"],
    ['VECTOR.ADD i  VALUES 3 1 0 0', 'ERR vector id must not be empty'],
    ['VECTOR.ADD i c VALUES 3 1 0 zero', 'ERR vector contains an invalid value'],
    ['VECTOR.ADD i c VALUES 3 1 0 nan', 'ERR vector contains an invalid value'],
    ['VECTOR.ADD i c VALUES 3 1 0 inf', 'ERR vector contains an invalid value'],
    ['VECTOR.ADD i c VALUES 3 1 0 1e39', 'ERR vector contains an invalid value'],
    ['VECTOR.ADD i c BASE64-FP32 AADAfwAAAAAAAAAA', 'ERR vector contains an invalid value'],
    ['VECTOR.ADD i c VALUES 4 1 0 0', 'ERR syntax error'],
    ['VECTOR.ADD i c VALUES 2 1 0 0', 'ERR syntax error'],
    ['VECTOR.ADD i c VALUES 0', 'ERR syntax error'],
    ['VECTOR.ADD i c BASE64-FP32 AAA=', 'ERR vector blob must be 32-bit floats, and not empty'],
    ['VECTOR.ADD i c BASE64-FP32 ', 'ERR vector blob must be 32-bit floats, and not empty'],
    ['VECTOR.ADD i c BASE64-FP32 !', 'ERR vector blob must be 32-bit floats, and not empty'],
    ['VECTOR.ADD i c FP32 abc', 'ERR vector blob must be 32-bit floats, and not empty'],
    ['VECTOR.COUNT i', 2],
  ],
  '15: precision of elements': [
    ['VECTOR.CREATE i DIM 2 METRIC COSINE', 1],
    ['VECTOR.ADD i a VALUES 2 0.1 0.2', 1],
    ['VECTOR.GET i a', ['0.1', '0.2']],
  ],
  '16: base64': [
    ['VECTOR.CREATE i DIM 1 METRIC COSINE', 1],
    ['VECTOR.ADD i a BASE64-FP32 AADAvw==', 1],
    ['VECTOR.GET i a', ['-1.5']],
    ['VECTOR.CREATE t DIM 3 METRIC COSINE', 1],
    ['VECTOR.ADD t a BASE64-FP32 AACAPwAAAAAAAAAA', 1],
    ['VECTOR.GET t a', ['1', '0', '0']],
    ['VECTOR.ADD t b BASE64-FP32 zczMPc3MTD6amZk+', 1],
    ['VECTOR.GET t b', ['0.1', '0.2', '0.3']],
  ],
  'clauses in any order and case': [
    ['vector.create i metric cosine dim 2', 1],
    ['vector.add i a values 2 1 0', 1],
    ['vector.query i values 2 1 0 profile fast topk 1', [['a', '1']]],
  ],
  'the index that lost its last vector': [
    ['VECTOR.CREATE i DIM 1 METRIC DOT', 1],
    ['VECTOR.ADD i a VALUES 1 1', 1],
    ['VECTOR.DEL i a', 1],
    ['EXISTS i', 1],
    ['VECTOR.QUERY i TOPK 5 VALUES 1 1', []],
    ['VECTOR.ADD i b VALUES 1 1', 1],
    ['VECTOR.QUERY i TOPK 5 VALUES 1 1', [['b', '1']]],
  ],
  'keys of other types': [
    ['SET s x', expect.anything()],
    ...[
      'VECTOR.CREATE s DIM 3 METRIC COSINE EXISTSOK',
      'VECTOR.ADD s a VALUES 1 1',
      'VECTOR.GET s a',
      'VECTOR.QUERY s TOPK 1 VALUES 1 1',
      'VECTOR.DEL s a',
      'VECTOR.COUNT s',
      'VECTOR.INFO s',
      'VECTOR.DROP s',
    ].map((line) => [line, 'WRONGTYPE Operation against a key holding the wrong kind of value'] as const),
    three,
    ['GET i', 'WRONGTYPE Operation against a key holding the wrong kind of value'],
    ['JSON.GET i', 'WRONGTYPE Operation against a key holding the wrong kind of value'],
  ],
}

describe('worked examples of VECTOR commands', () => {
  it.each(Object.entries(examples))('%s', (_, steps) => {
    const run = storeOf()
    for (const [line, reply] of steps) expect(run(line), line).toEqual(reply)
  })
})

/** Query, vector, and their scores: COSINE, EUCLIDEAN, DOT. */
const scores = [
  ['1 0 0', '1 0 0', '1', '1', '1'],
  ['1 0 0', '0.9 0.1 0', '0.99694186', '0.98039216', '0.95'],
  ['1 0 0', '0 1 0', '0.5', '0.33333334', '0.5'],
  ['1 0 0', '-1 0 0', '0', '0.2', '0'],
  ['1 0 0', '2 0 0', '1', '0.5', '1'],
  ['0 0', '3 4', '0.5', '0.03846154', '0.5'],
  ['0.6 0.8', '0.8 0.6', '0.98', '0.9259259', '0.98'],
] as const

function scoreOf(metric: string, query: string, vector: string, options: SandboxOptions = {}): unknown {
  const run = storeOf(options)
  const count = vector.split(' ').length
  run(`VECTOR.CREATE i DIM ${count} METRIC ${metric}`)
  run(`VECTOR.ADD i a VALUES ${count} ${vector}`)
  return (run(`VECTOR.QUERY i TOPK 1 VALUES ${count} ${query}`) as [[string, string]])[0][1]
}

describe('scores', () => {
  it.each(scores)('of %s and %s', (query, vector, cosine, euclidean, dot) => {
    const found = ['COSINE', 'EUCLIDEAN', 'DOT'].map((metric) => scoreOf(metric, query, vector))
    expect(found).toEqual([cosine, euclidean, dot])
  })

  it('policy.vectorDot decides about scores outside 0 to 1', () => {
    const policy = { vectorDot: 'plain' } as const
    expect(scoreOf('DOT', '1 0 0', '2 0 0', { policy })).toBe('1.5')
    expect(scoreOf('DOT', '1 0 0', '-4 0 0', { policy })).toBe('-1.5')
    expect(scoreOf('DOT', '1 0 0', '-4 0 0')).toBe('0')
  })

  it('policy.vectorScore returns the cosine, the negative distance or the dot product', () => {
    const policy = { vectorScore: 'raw' } as const
    expect(scoreOf('COSINE', '1 0 0', '-1 0 0', { policy })).toBe('-1')
    expect(scoreOf('EUCLIDEAN', '0 0', '3 4', { policy })).toBe('-5')
    expect(scoreOf('EUCLIDEAN', '3 4', '3 4', { policy })).toBe('0')
    expect(scoreOf('DOT', '2 3', '4 5', { policy })).toBe('23')
  })

  it('stay finite for the largest floats', () => {
    const huge = '3e38 3e38'
    expect(scoreOf('DOT', huge, huge, { policy: { vectorScore: 'raw' } })).toBe('3.4028235e+38')
    expect(scoreOf('EUCLIDEAN', huge, '-3e38 -3e38', { policy: { vectorScore: 'raw' } })).toBe('-3.4028235e+38')
    expect(scoreOf('COSINE', huge, huge)).toBe('1')
    expect(scoreOf('EUCLIDEAN', huge, '-3e38 -3e38')).toBe('0')
  })

  it('rejects other values of the policies', () => {
    expect(() => storeOf({ policy: { vectorRecall: 1.5 } })).toThrow('policy.vectorRecall')
    expect(() => storeOf({ policy: { vectorRecall: { fast: -1 } } })).toThrow('policy.vectorRecall')
    expect(() => storeOf({ policy: { vectorScore: 'cosine' as never } })).toThrow('policy.vectorScore')
    expect(() => storeOf({ policy: { vectorDot: true as never } })).toThrow('policy.vectorDot')
  })
})
