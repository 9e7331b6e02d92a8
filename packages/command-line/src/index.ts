// Code that all commands of the command line share.
export { type Manifest, ownFolder, ownManifest } from './own-package.js'
export {
  type Option,
  type OptionGroup,
  optionGroups,
  type ParsedArguments,
  type Program,
  textOf,
  UsageError,
} from './program.js'
export { type FileSystem, writeWhole } from './whole-file.js'
