// Lua 5.1, in which the data store runs scripts. Each run has a limited number of steps.
export { compile, load } from './compiler/chunk.js'
export { deepestNode } from './compiler/compile.js'
export { deepestDecoded } from './libraries/json-decode.js'
export { deepestEncoded } from './libraries/json-encode.js'
export { deepestValue } from './libraries/library-cmsgpack.js'
export { initialRandom } from './libraries/library-math.js'
export { maxNesting } from './libraries/pattern.js'
export { createBareEnvironment, createEnvironment, createMachine, type Machine, protection } from './machine.js'
export {
  type Budget,
  chargeParts,
  hostErrorValue,
  isStackOverflow,
  LuaError,
  longJoin,
  maxNested,
  maxString,
  memoryForRun,
  type RandomState,
  roomForRun,
} from './runtime/activation.js'
export { library } from './runtime/library-arguments.js'
export { type LuaFunction, LuaTable, type LuaValue, type Result, typeName } from './runtime/lua-value.js'
export { numberText, parseNumber, preciseText, toInt64 } from './runtime/number-text.js'
export { plainText } from './runtime/operations.js'
export { BudgetExhausted, charge, exhausted, remaining } from './runtime/steps.js'
export { cString, LuaSyntaxError } from './syntax/lexer.js'
export { maxChain, maxLevels } from './syntax/parser.js'
