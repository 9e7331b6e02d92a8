// Jest with its usual setup: CommonJS, no transform, no flag. It loads the build.
module.exports = {
  rootDir: __dirname,
  testMatch: ['<rootDir>/*.test.cjs'],
  transform: {},
  testEnvironment: 'node',
  setupFilesAfterEnv: ['<rootDir>/setup.cjs'],
}
