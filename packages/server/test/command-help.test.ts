import { describe, expect, test } from 'vitest'
import {
  describedOption,
  groupedOptions,
  helpColumns,
  helpOf,
  overview,
  typedOption,
  usageLine,
} from '../src/programs/command-help.js'
import { groups, programs } from '../src/programs/programs.js'

const commands = Object.entries(programs)

/** Proper names and acronyms that a description may begin with. */
const capitals = /^(?:ID|PEM|REST|URL|Redis)\b/

describe.each(commands)('help of %s', (name, row) => {
  test('has a usage line, at most 100 columns and fewer than 40 lines', async () => {
    const { program } = await row.load()
    const lines = helpOf(name, row, program).split('\n')
    expect(lines.length).toBeLessThan(40)
    expect(lines.filter((line) => line.length > helpColumns)).toEqual([])
    expect(lines[0]).toBe(row.description)
    expect(lines).toContain(`Usage: ${usageLine(name, program)}`)
    expect(usageLine(name, program)).not.toMatch(/[<>]/)
    expect(lines.filter((line) => line.startsWith('Exit codes: '))).toHaveLength(1)
  })

  test('names every option, and describes every option of a group and of "all"', async () => {
    const { program } = await row.load()
    const short = helpOf(name, row, program)
    const all = helpOf(name, row, program, 'all')
    expect(all.split('\n').filter((line) => line.length > helpColumns)).toEqual([])
    for (const [group, options] of groupedOptions(program)) {
      const topic = helpOf(name, row, program, group.toLowerCase().replace(' ', '-'))
      expect(topic.split('\n').length).toBeLessThan(40)
      for (const [option, given] of options) {
        expect(short).toContain(`--${option}`)
        for (const text of [all, topic]) {
          expect(text).toContain(typedOption(option, given))
          expect(text).toContain(describedOption(given))
        }
      }
    }
  })

  test('uses descriptions in lower case, without a full stop, of at most 70 characters', async () => {
    const { args } = (await row.load()).program
    expect(row.description).toMatch(/^[A-Z].{0,68}[^.]$/)
    for (const [option, given] of Object.entries(args)) {
      const text = describedOption(given)
      expect(text.length, `${option}: ${text}`).toBeLessThanOrEqual(70)
      expect(text, option).not.toMatch(/\.$/)
      if (!capitals.test(text)) expect(text, option).toMatch(/^[a-z]/)
    }
  })
})

describe('list of commands', () => {
  test('names every command within 100 columns and 40 lines', () => {
    const lines = overview().split('\n')
    expect(lines.length).toBeLessThan(40)
    expect(lines.filter((line) => line.length > helpColumns)).toEqual([])
    for (const [name, { description }] of commands)
      expect(lines.some((line) => line.startsWith(`  ${name} `) && line.endsWith(`  ${description}`))).toBe(true)
  })

  test.each(Object.entries(groups))('describes %s, and contains only its subcommands', (group, description) => {
    const [first, ...lines] = overview(group).split('\n')
    expect(first).toBe(description)
    expect(description).toMatch(/^[A-Z].{0,68}[^.]$/)
    const subcommands = commands.filter(([name]) => name.split(' ')[0] === group)
    expect(lines.filter((line) => line.startsWith('  '))).toHaveLength(subcommands.length)
  })
})
