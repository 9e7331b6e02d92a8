import ts from 'typescript'

// What names there are at a place of what is published. A place is written much as it is used: `Sandbox.queue.publish(0).delay`
// is a field of the first argument of a method, `()` what a function returns, `[]` an item of a list. What a promise brings
// needs no mark.

/** Names at a place: members of an object, and values that are texts. */
export type Names = ReadonlySet<string>

/** One step to a place: `[]`, `()`, `(0)`, or the name of a member. */
function stepsOf(path: string): readonly string[] {
  return path.match(/\[\]|\(\d?\)|[\w-]+/g) ?? []
}

/** The declarations of the installed package. */
export class Declarations {
  readonly #checker: ts.TypeChecker
  readonly #entries = new Map<string, readonly ts.Symbol[]>()

  /** @param files entry → its declarations */
  constructor(files: Readonly<Record<string, string>>) {
    const program = ts.createProgram(Object.values(files), {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2024,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
    })
    this.#checker = program.getTypeChecker()
    for (const [entry, file] of Object.entries(files)) {
      const module = this.#checker.getSymbolAtLocation(program.getSourceFile(file)!)
      this.#entries.set(entry, module === undefined ? [] : this.#checker.getExportsOfModule(module))
    }
  }

  /** What an entry exports: values, or types, too. */
  exports(entry: string, which: 'values' | 'all'): Names {
    const symbols = this.#entries.get(entry)
    if (symbols === undefined) throw new Error(`The package has no entry ${entry}.`)
    return new Set(symbols.filter((symbol) => which === 'all' || this.#isValue(symbol)).map(({ name }) => name))
  }

  /** Every name that any entry exports. */
  everything(): Names {
    return new Set([...this.#entries.values()].flat().map(({ name }) => name))
  }

  names(place: string): Names {
    const names = new Set<string>()
    for (const type of this.#typesAt(place)) {
      if (type.isStringLiteral()) names.add(type.value)
      for (const member of this.#members(type)) names.add(member.name)
    }
    return names
  }

  /** How the type of a place is written. */
  text(place: string): string {
    const types = this.#typesAt(place).map((type) =>
      this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation),
    )
    return [...new Set(types)].join(' | ')
  }

  #isValue(symbol: ts.Symbol): boolean {
    const isTypeOnly = symbol.declarations?.some(
      (one) => ts.isExportSpecifier(one) && ts.isTypeOnlyExportDeclaration(one),
    )
    return isTypeOnly !== true && (this.#resolved(symbol).flags & ts.SymbolFlags.Value) !== 0
  }

  #resolved(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  #typesAt(place: string): readonly ts.Type[] {
    const [first, ...steps] = stepsOf(place)
    const exported = [...this.#entries.values()].flat().find(({ name }) => name === first)
    if (exported === undefined) throw new Error(`No entry exports ${first}, so that ${place} is nowhere.`)
    const symbol = this.#resolved(exported)
    const isType = symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)
    const start = isType ? this.#checker.getDeclaredTypeOfSymbol(symbol) : this.#checker.getTypeOfSymbol(symbol)
    let types = this.#each(start)
    for (const step of steps) {
      const next = types.flatMap((type) => this.#after(type, step))
      if (next.length === 0) throw new Error(`${place} is nowhere: there is no ${step}.`)
      types = next
    }
    return types
  }

  #after(type: ts.Type, step: string): readonly ts.Type[] {
    if (step === '()') return type.getCallSignatures().flatMap((one) => this.#each(one.getReturnType()))
    if (step === '[]') return this.#each(this.#checker.getIndexTypeOfType(type, ts.IndexKind.Number))
    const found = step.startsWith('(')
      ? type.getCallSignatures().map(({ parameters }) => parameters[Number(step[1])])
      : [this.#members(type).find(({ name }) => name === step)]
    return found.flatMap((one) => this.#each(one && this.#checker.getTypeOfSymbol(one)))
  }

  /** Each type of a union, and what a promise brings. */
  #each(type: ts.Type | undefined): readonly ts.Type[] {
    const awaited = type && (this.#checker.getAwaitedType(type) ?? type)
    if (awaited === undefined || awaited.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null)) return []
    if (awaited.isUnion()) return awaited.types.flatMap((one) => this.#each(one))
    return [this.#checker.getBaseConstraintOfType(awaited) ?? awaited]
  }

  #members(type: ts.Type): readonly ts.Symbol[] {
    // Members of texts and numbers belong to JavaScript, not to this package.
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return []
    return type.getProperties().filter(({ name, declarations = [] }) => {
      const isHidden = declarations.some(
        (one) => ts.getCombinedModifierFlags(one) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected),
      )
      return !isHidden && !name.startsWith('__')
    })
  }
}

type Schema = { readonly [word: string]: unknown }

/** A JSON Schema. */
export class SchemaFile {
  readonly #root: Schema

  constructor(root: Schema) {
    this.#root = root
  }

  names(path: string): Names {
    let schemas = this.#each(this.#root)
    for (const step of stepsOf(path)) {
      schemas = schemas.flatMap(({ items, properties = {} }) =>
        [step === '[]' ? items : (properties as Schema)[step]].flat().flatMap((one) => this.#each(one as Schema)),
      )
      if (schemas.length === 0) throw new Error(`The schema has nothing at ${path}.`)
    }
    return new Set(
      schemas.flatMap(({ properties = {}, enum: values = [], const: value }) =>
        [...Object.keys(properties as Schema), ...(values as unknown[]), value].filter(
          (one) => typeof one === 'string',
        ),
      ),
    )
  }

  /** Each choice that a schema leaves. */
  #each(schema: Schema | undefined): readonly Schema[] {
    if (schema === undefined) return []
    if (typeof schema.$ref === 'string') {
      const target = schema.$ref.split('/').slice(1)
      return this.#each(target.reduce((at, name) => at[name] as Schema, this.#root))
    }
    const choices = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (list as Schema[] | undefined) ?? [])
    return [schema, ...choices.flatMap((one) => this.#each(one))]
  }
}

/** Files with data: the names are their keys. */
export class DataFiles {
  readonly #contents: readonly unknown[]

  constructor(contents: readonly unknown[]) {
    this.#contents = contents
  }

  names(path: string): Names {
    const values = stepsOf(path).reduce<readonly unknown[]>(inside, this.#contents)
    return new Set(values.flatMap((value) => Object.keys(value as object)))
  }
}

function inside(values: readonly unknown[], step: string): readonly unknown[] {
  const found = values.flatMap((value) => (step === '[]' ? value : (value as Readonly<Record<string, unknown>>)[step]))
  return found.filter((value) => value !== undefined)
}
