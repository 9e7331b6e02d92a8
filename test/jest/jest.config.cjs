// Jest as most of its users run it: CommonJS, no transform, no flag. What it loads is the build.
module.exports = {
  rootDir: __dirname,
  testMatch: ['<rootDir>/*.test.cjs'],
  transform: {},
  testEnvironment: 'node',
  setupFilesAfterEnv: ['<rootDir>/setup.cjs'],
}
