import { readFileSync } from "node:fs";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { folderContext } from "./src/folder-context.ts";
import { readFile } from "./src/read-file.ts";
import { documentsOf } from "./src/documents-of.ts";
import { parseYaml } from "./src/parse-yaml.ts";
import { placeOf } from "./src/place.ts";
const context = folderContext({dir:"x",registry:envoyRegistry()});
const path=process.argv[2]; const seg=process.argv[3].split("/");
const hwm=()=>/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1]/1024|0;
const bytes=readFileSync(path); console.log("start",hwm());
let t=performance.now();
if(process.argv[4]==="phases"){ const text=new TextDecoder().decode(bytes); const v=parseYaml(text); console.log("yaml",performance.now()-t|0,hwm(), process.memoryUsage().heapUsed>>20); t=performance.now(); const d=documentsOf(text,placeOf(seg,context),context); console.log("documents",performance.now()-t|0,hwm(),process.memoryUsage().heapUsed>>20);process.exit()}
const r=readFile(seg,bytes,context); console.log("read",performance.now()-t|0,"ms, hwm",hwm(),"puts",r.puts.length,r.problems.slice(0,2),r.puts[0]?.resource.payload.value.length);
