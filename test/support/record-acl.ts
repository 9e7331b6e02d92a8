/**
 * Writes test/transcripts/permissions.json: categories, key uses, lengths, key positions and flags of commands, and verdicts of ACL DRYRUN, from a real
 * redis-server 7.0: `node --import ./test/support/typescript-sources.mjs test/support/record-acl.ts`.
 */
import { writeFileSync } from 'node:fs'
import { type PermissionCase, randomPermissionCases, randomSelectorCases } from '../store/acl-cases.js'
import { startRedis } from './live-redis.js'
import type { RespReply } from './resp.js'

const redis = await startRedis()
try {
  const send = async (...argv: string[]): Promise<unknown> => plain(await redis.client.send(argv))
  const commands: Record<
    string,
    { categories: string[]; keys: string[]; arity: number; at: number[]; flags: string[] }
  > = {}
  const visit = (row: readonly unknown[]): void => {
    const [name, arity, flags, first, last, step, categories, , keys, subcommands] = row as [string, ...unknown[]]
    commands[name] = {
      categories: (categories as string[]).map((category) => category.slice(1)).sort(),
      keys: (keys as unknown[][]).map(useOf),
      arity: arity as number,
      at: [first, last, step] as number[],
      flags: (flags as string[]).toSorted(),
    }
    for (const subcommand of subcommands as unknown[][]) visit(subcommand)
  }
  for (const row of (await send('COMMAND')) as unknown[][]) visit(row)

  const verdictsOf = async (cases: readonly PermissionCase[]): Promise<string> => {
    const verdicts: string[] = []
    for (const { rules, argv } of cases) {
      await send('ACL', 'SETUSER', 'someone', 'reset', ...rules)
      const verdict = String(await send('ACL', 'DRYRUN', 'someone', ...argv))
      verdicts.push(JSON.stringify([rules.join(' '), argv.join(' '), verdict]))
    }
    return verdicts.map((row) => `    ${row}`).join(',\n')
  }
  const verdicts = await verdictsOf(randomPermissionCases('permissions', 600))
  const selectors = await verdictsOf(randomSelectorCases('selectors', 300))
  const rows = [
    ...Object.entries(commands)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, row]) => `    ${JSON.stringify(name)}: ${JSON.stringify(row)}`),
  ]
  const file = new URL('../transcripts/permissions.json', import.meta.url)
  writeFileSync(
    file,
    `{\n  "commands": {\n${rows.join(',\n')}\n  },\n  "verdicts": [\n${verdicts}\n  ],\n  "selectors": [\n${selectors}\n  ]\n}\n`,
  )
} finally {
  await redis.stop()
}

/** A key specification's flags as what happens to the content: it is read (R), changed (W), or neither. */
function useOf(specification: readonly unknown[]): string {
  const flags = specification[specification.indexOf('flags') + 1] as string[]
  const changes = ['insert', 'update', 'delete'].some((flag) => flags.includes(flag))
  return (flags.includes('access') ? 'R' : '') + (changes ? 'W' : '')
}

function plain(reply: RespReply): unknown {
  if ('array' in reply) return reply.array.map(plain)
  if ('bulk' in reply) return reply.bulk
  if ('status' in reply) return reply.status
  if ('integer' in reply) return Number(reply.integer)
  if ('error' in reply) throw new Error(reply.error)
  return null
}
