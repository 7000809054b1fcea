BEGIN TRANSACTION;
CREATE TABLE fleet_breakers (mode TEXT PRIMARY KEY, is_open BIGINT NOT NULL, reason TEXT NOT NULL, at_ms BIGINT NOT NULL, who TEXT NOT NULL);
CREATE TABLE fleet_culprits (incident TEXT NOT NULL, culprit TEXT NOT NULL, machine TEXT NOT NULL, hardware TEXT, host TEXT NOT NULL, node TEXT, chip BIGINT, core_type TEXT NOT NULL, core_index BIGINT, nic TEXT, grounds TEXT NOT NULL, job TEXT NOT NULL, slice BIGINT NOT NULL, task BIGINT NOT NULL, module TEXT, fingerprint TEXT, at_ms BIGINT NOT NULL, home_slice BIGINT, home_task BIGINT, PRIMARY KEY (incident, culprit));
INSERT INTO "fleet_culprits" VALUES('20261122T134819Z-a0030922','0/0/0/TENSOR_CORE/0/-','hardware:machine-0-0','machine-0-0','tpu-host-0-0','node-0-0',0,'TENSOR_CORE',0,NULL,'repetition','testbed',0,0,'jit_train_step','f6922410acf04c77edcd80f6f573de63',1795355299656,0,0);
INSERT INTO "fleet_culprits" VALUES('20261122T134830Z-1c335203','0/2/-//-/-','hardware:machine-0-2','machine-0-2','tpu-host-0-2','node-0-2',NULL,'',NULL,NULL,'never','testbed',0,2,'jit_eval_step','e2ed914e8d332ae88ba6523e6662e716',1795355310140,0,2);
CREATE TABLE fleet_decisions (incident TEXT NOT NULL, machine TEXT NOT NULL, mode TEXT NOT NULL, action TEXT NOT NULL, rule TEXT NOT NULL, reason TEXT NOT NULL, host TEXT NOT NULL, job TEXT NOT NULL, slices TEXT NOT NULL, decided_ms BIGINT NOT NULL, expires_ms BIGINT NOT NULL, PRIMARY KEY (incident, machine, mode));
INSERT INTO "fleet_decisions" VALUES('20261122T134819Z-a0030922','hardware:machine-0-0','dry-run','watch','repetition','1 hang event on this machine in 30 days, more than 3 are needed','tpu-host-0-0','testbed','0',1795355300276,1795376899656);
INSERT INTO "fleet_decisions" VALUES('20261122T134830Z-1c335203','hardware:machine-0-2','dry-run','watch','cause','no host is ever removed for DIFFERENT_MODULE MODULE_DIVERGENCE','tpu-host-0-2','testbed','0',1795355311036,1795376910140);
CREATE TABLE fleet_forgets (machine TEXT NOT NULL, at_ms BIGINT NOT NULL, who TEXT NOT NULL, PRIMARY KEY (machine, at_ms));
CREATE TABLE fleet_incidents (incident TEXT PRIMARY KEY, job TEXT NOT NULL, incarnation TEXT NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, detected_ms BIGINT NOT NULL, at_ms BIGINT NOT NULL, recorded_ms BIGINT NOT NULL, hosts BIGINT NOT NULL, slices BIGINT NOT NULL, digest TEXT NOT NULL);
INSERT INTO "fleet_incidents" VALUES('20261122T134819Z-a0030922','testbed','34bb5a7e2375','BAD_TPU_CHIP','TENSOR_CORE',0.979,1795355299656,1795355299656,1795355300274,2,1,'{
  "schemaVersion": 1,
  "incidentId": "20261122T134819Z-a0030922",
  "job": "testbed",
  "jobIncarnation": "34bb5a7e2375",
  "detectedAt": "2026-11-22T13:48:19.656Z",
  "trigger": "no-progress",
  "cause": "BAD_TPU_CHIP",
  "detail": "TENSOR_CORE",
  "confidence": 0.979,
  "headline": "Megascale detects a hang that is likely caused by bad TPU chips on the following hosts. Please remove the hosts from the fleet and restart the workload. If problem persists please contact Megascale XLA team.",
  "culprits": [
    {
      "slice": 0,
      "task": 0,
      "host": "tpu-host-0-0",
      "node": "node-0-0",
      "chip": 0,
      "coreType": "TENSOR_CORE",
      "coreIndex": 0,
      "why": "chip 0 TensorCore 0 of slice 0 task 0 (tpu-host-0-0) has stood still for 4.6 s at fusion.2 (tag 1, pc 0x1d0) of jit_train_step, while 3 cores of slice 0 wait at all-reduce.3 (tag 1, pc 0x6e7) of jit_train_step"
    }
  ],
  "links": [],
  "evidence": [
    {
      "statement": "chip 0 TensorCore 0 of slice 0 task 0 (tpu-host-0-0) has stood still for 4.6 s at fusion.2 (tag 1, pc 0x1d0) of jit_train_step, while 3 cores of slice 0 wait at all-reduce.3 (tag 1, pc 0x6e7) of jit_train_step",
      "strength": "STRONG",
      "workers": [
        {
          "slice": 0,
          "task": 0
        }
      ]
    },
    {
      "statement": "slice 0 task 0 (tpu-host-0-0): its thread main (testbed-worker) stands in read (libc.so.6), called by _IO_file_underflow (libc.so.6), called by _IO_default_uflow (libc.so.6), called by _IO_getc (libc.so.6)",
      "strength": "WEAK",
      "workers": [
        {
          "slice": 0,
          "task": 0
        }
      ]
    }
  ],
  "alternatives": [],
  "removal": {
    "eligible": false,
    "targets": [],
    "reason": "no evidence from outside the job''s reach on that chip: eligible only if it repeats"
  },
  "recommendedActions": [
    {
      "description": "Remove host tpu-host-0-0 (slice 0 task 0) from the job and restart from the last checkpoint."
    },
    {
      "description": "If the same program stops at the same place on other hardware, suspect the program (an XLA or Pallas kernel) rather than the chip."
    }
  ],
  "tpuStates": [
    {
      "launchId": 1612417133,
      "module": "jit_train_step",
      "fingerprint": "f6922410acf04c77edcd80f6f573de63",
      "cores": 4,
      "positions": [
        {
          "tag": 1,
          "pc": 1767,
          "hlo": "all-reduce.3",
          "cores": 3,
          "workers": [
            {
              "slice": 0,
              "task": 0
            },
            {
              "slice": 0,
              "task": 1
            }
          ]
        },
        {
          "tag": 1,
          "pc": 464,
          "hlo": "fusion.2",
          "cores": 1,
          "workers": [
            {
              "slice": 0,
              "task": 0
            }
          ]
        }
      ]
    },
    {
      "cores": 8,
      "positions": [
        {
          "tag": 0,
          "pc": 0,
          "cores": 8,
          "workers": [
            {
              "slice": 0,
              "task": 0
            },
            {
              "slice": 0,
              "task": 1
            }
          ]
        }
      ]
    }
  ],
  "workers": {
    "expected": 2,
    "reported": 2,
    "missing": []
  },
  "firstError": {
    "at": "2026-11-22T13:48:15.047Z",
    "type": "HANG_DETECTED"
  },
  "timings": {
    "detectToCollectMs": 0,
    "collectMs": 554,
    "classifyMs": 0,
    "renderMs": 0
  },
  "files": {
    "capture": "/var/lib/rapideye/incidents/20261122T134819Z-a0030922/capture.jsonl.gz",
    "text": "/var/lib/rapideye/incidents/20261122T134819Z-a0030922/digest.txt",
    "html": "/var/lib/rapideye/incidents/20261122T134819Z-a0030922/digest.html"
  }
}
');
INSERT INTO "fleet_incidents" VALUES('20261122T134830Z-1c335203','testbed','2dc7675c8804','DIFFERENT_MODULE','MODULE_DIVERGENCE',0.9772,1795355310140,1795355310140,1795355311007,3,1,'{
  "schemaVersion": 1,
  "incidentId": "20261122T134830Z-1c335203",
  "job": "testbed",
  "jobIncarnation": "2dc7675c8804",
  "detectedAt": "2026-11-22T13:48:30.140Z",
  "trigger": "no-progress",
  "cause": "DIFFERENT_MODULE",
  "detail": "MODULE_DIVERGENCE",
  "confidence": 0.977,
  "headline": "Megascale detects a hang that is likely caused by running different modules on different devices. Please confirm that all workers is running the exact same program. It can also be caused by a hang in a subset of devices and the unaffected devices have moved on to the next program. Please inspect the digest below to further root cause the hang.",
  "culprits": [
    {
      "slice": 0,
      "task": 2,
      "host": "tpu-host-0-2",
      "node": "node-0-2",
      "why": "slice 0 task 2 (tpu-host-0-2) runs jit_eval_step"
    }
  ],
  "links": [],
  "evidence": [
    {
      "statement": "the HLO of the two sides first differs at instruction 3 of main.9_spmd and main.10_spmd: slice 0 task 2 (tpu-host-0-2) has convolution.2 = f32[8,128]{1,0:T(8,128)} convolution(infeed.1), backend_config={\"code_size\":\"1303\"}, metadata={op_name=\"jit(step)/convolution\" source_file=\"train.py\" source_line=41}; slice 0 task 0 (tpu-host-0-0) has fusion.2 = f32[8,128]{1,0:T(8,128)} fusion(infeed.1), backend_config={\"code_size\":\"1303\"}, metadata={op_name=\"jit(step)/fusion\" source_file=\"train.py\" source_line=41}",
      "strength": "DIRECT",
      "workers": [
        {
          "slice": 0,
          "task": 0
        },
        {
          "slice": 0,
          "task": 2
        }
      ]
    },
    {
      "statement": "slice 0 task 2 (tpu-host-0-2) runs jit_eval_step (fingerprint e2ed914e8d332ae88ba6523e6662e716), while 2 other workers of the cohort run jit_train_step",
      "strength": "STRONG",
      "workers": [
        {
          "slice": 0,
          "task": 2
        }
      ]
    },
    {
      "statement": "slice 0 task 0 (tpu-host-0-0), slice 0 task 1 (tpu-host-0-1) run jit_train_step (fingerprint f6922410acf04c77edcd80f6f573de63)",
      "strength": "STRONG",
      "workers": [
        {
          "slice": 0,
          "task": 0
        }
      ]
    },
    {
      "statement": "slice 0 task 2 (tpu-host-0-2): its thread main (testbed-worker) stands in read (libc.so.6), called by _IO_file_underflow (libc.so.6), called by _IO_default_uflow (libc.so.6), called by _IO_getc (libc.so.6)",
      "strength": "WEAK",
      "workers": [
        {
          "slice": 0,
          "task": 2
        }
      ]
    }
  ],
  "alternatives": [],
  "removal": {
    "eligible": false,
    "targets": [],
    "reason": "a fault of software or input: watched, hosts are never removed for it"
  },
  "recommendedActions": [
    {
      "description": "Compare the HLO of slice 0 task 2 (tpu-host-0-2) and slice 0 task 0 (tpu-host-0-0), which is stored with the incident, from instruction 3 of main.9_spmd and main.10_spmd on: that is where they first differ."
    },
    {
      "description": "Compare the HLO of host tpu-host-0-2 (slice 0 task 2) with that of another worker and find which branch of the training script made them run different programs."
    }
  ],
  "tpuStates": [
    {
      "launchId": 1612417134,
      "module": "jit_train_step",
      "fingerprint": "f6922410acf04c77edcd80f6f573de63",
      "cores": 2,
      "positions": [
        {
          "tag": 1,
          "pc": 1767,
          "hlo": "all-reduce.3",
          "cores": 2,
          "workers": [
            {
              "slice": 0,
              "task": 0
            },
            {
              "slice": 0,
              "task": 1
            }
          ]
        }
      ]
    },
    {
      "launchId": 1617815796,
      "module": "jit_eval_step",
      "fingerprint": "e2ed914e8d332ae88ba6523e6662e716",
      "cores": 1,
      "positions": [
        {
          "tag": 1,
          "pc": 1767,
          "hlo": "collective-permute.3",
          "cores": 1,
          "workers": [
            {
              "slice": 0,
              "task": 2
            }
          ]
        }
      ]
    },
    {
      "cores": 6,
      "positions": [
        {
          "tag": 0,
          "pc": 0,
          "cores": 6,
          "workers": [
            {
              "slice": 0,
              "task": 0
            },
            {
              "slice": 0,
              "task": 1
            },
            {
              "slice": 0,
              "task": 2
            }
          ]
        }
      ]
    }
  ],
  "hloComparison": {
    "outcome": "DIFFERENT",
    "position": 3,
    "sides": [
      {
        "slice": 0,
        "task": 2,
        "module": "jit_eval_step",
        "fingerprint": "e2ed914e8d332ae88ba6523e6662e716",
        "dump": "module_0002.jit_eval_step.after_optimizations.txt",
        "match": "ONLY_DUMP",
        "computation": "main.9_spmd",
        "instruction": "convolution.2 = f32[8,128]{1,0:T(8,128)} convolution(infeed.1), backend_config={\"code_size\":\"1303\"}, metadata={op_name=\"jit(step)/convolution\" source_file=\"train.py\" source_line=41}"
      },
      {
        "slice": 0,
        "task": 0,
        "module": "jit_train_step",
        "fingerprint": "f6922410acf04c77edcd80f6f573de63",
        "dump": "module_0001.jit_train_step.after_optimizations.txt",
        "match": "ONLY_DUMP",
        "computation": "main.10_spmd",
        "instruction": "fusion.2 = f32[8,128]{1,0:T(8,128)} fusion(infeed.1), backend_config={\"code_size\":\"1303\"}, metadata={op_name=\"jit(step)/fusion\" source_file=\"train.py\" source_line=41}"
      }
    ]
  },
  "workers": {
    "expected": 3,
    "reported": 3,
    "missing": []
  },
  "firstError": {
    "at": "2026-11-22T13:48:25.419Z",
    "type": "HANG_DETECTED"
  },
  "timings": {
    "detectToCollectMs": 0,
    "collectMs": 703,
    "classifyMs": 1,
    "renderMs": 0
  },
  "files": {
    "capture": "/var/lib/rapideye/incidents/20261122T134830Z-1c335203/capture.jsonl.gz",
    "text": "/var/lib/rapideye/incidents/20261122T134830Z-1c335203/digest.txt",
    "html": "/var/lib/rapideye/incidents/20261122T134830Z-1c335203/digest.html",
    "hlo": [
      "/var/lib/rapideye/incidents/20261122T134830Z-1c335203/hlo-0-2.txt.gz",
      "/var/lib/rapideye/incidents/20261122T134830Z-1c335203/hlo-0-0.txt.gz"
    ]
  }
}
');
CREATE TABLE fleet_lock (name TEXT PRIMARY KEY, turns BIGINT NOT NULL);
INSERT INTO "fleet_lock" VALUES('fleet',2);
CREATE TABLE fleet_repairs (incident TEXT NOT NULL, machine TEXT NOT NULL, repair TEXT NOT NULL, at_ms BIGINT NOT NULL, who TEXT NOT NULL, PRIMARY KEY (incident, machine));
CREATE TABLE fleet_schema (version BIGINT PRIMARY KEY, description TEXT NOT NULL);
INSERT INTO "fleet_schema" VALUES(1,'incidents, decisions, tasks');
INSERT INTO "fleet_schema" VALUES(2,'the order of hooks');
INSERT INTO "fleet_schema" VALUES(3,'lookups by place and name');
INSERT INTO "fleet_schema" VALUES(4,'when hooks began');
INSERT INTO "fleet_schema" VALUES(5,'where machines stood');
CREATE TABLE fleet_tasks (task TEXT PRIMARY KEY, incident TEXT NOT NULL, subject TEXT NOT NULL, hook TEXT NOT NULL, state TEXT NOT NULL, holder TEXT NOT NULL, lease_ms BIGINT NOT NULL, attempts BIGINT NOT NULL, not_before_ms BIGINT NOT NULL, created_ms BIGINT NOT NULL, expires_ms BIGINT NOT NULL, finished_ms BIGINT NOT NULL, outcome TEXT NOT NULL, output TEXT NOT NULL, ordinal BIGINT NOT NULL DEFAULT 0, begun_ms BIGINT NOT NULL DEFAULT 0);
CREATE INDEX fleet_culprits_by_machine ON fleet_culprits (machine, at_ms);
CREATE INDEX fleet_culprits_by_coordinate ON fleet_culprits (job, slice, task);
CREATE INDEX fleet_culprits_by_time ON fleet_culprits (at_ms);
CREATE INDEX fleet_decisions_by_action ON fleet_decisions (action, decided_ms);
CREATE INDEX fleet_decisions_by_machine ON fleet_decisions (machine, decided_ms);
CREATE INDEX fleet_tasks_by_state ON fleet_tasks (state, not_before_ms);
CREATE INDEX fleet_tasks_by_incident ON fleet_tasks (incident, subject);
CREATE INDEX fleet_culprits_by_place ON fleet_culprits (slice, task, fingerprint);
CREATE INDEX fleet_culprits_by_host ON fleet_culprits (host, at_ms);
CREATE INDEX fleet_culprits_by_node ON fleet_culprits (node, at_ms);
COMMIT;
