import js from '@eslint/js'
import tseslint from 'typescript-eslint'
import { layering } from './scripts/lint/layering.js'
import { noShell } from './scripts/lint/no-shell.js'

export default tseslint.config(
  { ignores: ['node_modules', 'data', 'coverage'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { house: { rules: { layering, 'no-shell': noShell } } },
    rules: {
      'house/layering': 'error',
      'house/no-shell': 'error',
      // Numbers in messages and SQL text are fine; everything else in a template stays checked.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/kernel/db/sql.ts', 'src/kernel/db/sql.test.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { paths: [{ name: 'kysely', importNames: ['sql'], message: 'The one of kernel/db is quick.' }] },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "ObjectExpression > Property[kind='get']",
          message:
            'Each such object has a shape of its own, which outlives it with all it refers to: use a class.',
        },
      ],
    },
  },
  {
    // Answers of the API are `any` on purpose (test/world/client.ts): a test looks into whatever shape it expects.
    files: ['test/**/*.ts', 'conformance/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['bin/*', '**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
)
