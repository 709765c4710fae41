export { KeyedMutex } from "svc/sdk/internal";
