// `npm start` runs the example with the build. `npm start -- serve …` runs the command line of the package.
const program = process.argv.length > 2 ? '../dist/cli.js' : './orders/main.ts'

await import(new URL(program, import.meta.url).href)
