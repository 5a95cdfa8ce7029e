export {
  ConfigError,
  plans,
  readConfig,
  roles,
  variables,
  type Config,
  type Plan,
  type Role,
} from './environment.ts'
