/**
 * What each room of `src/` may import, from the floor up. `areas` know one another by their `index.ts` only;
 * `app` assembles everything; `runner` and `web` are clients of the public API and use only the kernel.
 */
export const layers = {
  kernel: [],
  settings: ['kernel'],
  git: ['kernel'],
  rendering: ['kernel'],
  blobs: ['kernel'],
  tasks: ['kernel'],
  ci: ['kernel'],
  access: ['kernel', 'settings'],
  runner: ['kernel'],
  web: ['kernel'],
  areas: ['kernel', 'settings', 'git', 'rendering', 'blobs', 'tasks', 'ci', 'access'],
  app: ['kernel', 'settings', 'git', 'rendering', 'blobs', 'tasks', 'ci', 'access', 'areas', 'runner', 'web'],
  cli: [
    'kernel',
    'settings',
    'git',
    'rendering',
    'blobs',
    'tasks',
    'ci',
    'access',
    'areas',
    'runner',
    'web',
    'app',
  ],
}
