import { expect, test } from 'vitest'
import { withReadablePath } from './readable-path.ts'

test.each([
  ['/api/v4/projects/%FF/issues', '/api/v4/projects/%00/issues'],
  ['/api/v4/projects/a%2F%C3%28', '/api/v4/projects/%00'],
  ['/api/v4/projects/%zz?x=%', '/api/v4/projects/%00?x=%'],
  ['/api/v4/projects/a%2Fb/variables/%E2%9C%93?x=%FF', '/api/v4/projects/a%2Fb/variables/%E2%9C%93?x=%FF'],
  ['/api/v4/projects/1', '/api/v4/projects/1'],
  ['/group/%FF', '/group/%FF'],
])('%s', (url, readable) => expect(withReadablePath(url)).toBe(readable))
