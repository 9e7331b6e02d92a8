import { defineConfig } from 'vitest/config'

// The configuration of a user's project: only its tests, which import the build. A user has the build in node_modules,
// where Vitest imports it without a transform.
export default defineConfig({
  test: { include: ['*.case.ts'], env: { NO_COLOR: '1' }, server: { deps: { external: [/\/dist\//] } } },
})
